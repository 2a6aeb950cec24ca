/*
 * front/tool_exec.h
 *
 * Hand the process over to another program of pgrehearse.
 */
#ifndef RH_FRONT_TOOL_EXEC_H
#define RH_FRONT_TOOL_EXEC_H

#include "common/error.h"

/*
 * argv[0] is a command's name, argv[1..] its arguments up to NULL.  Runs pgrehearse-NAME from the
 * folder of this executable, else from PATH.  Returns only on failure, with -1.
 */
int rh_tool_exec(char **argv, struct rh_error *err);

#endif
