/*
 * diff/diff_command.h
 *
 * The command `pgrehearse diff`.
 */
#ifndef RH_DIFF_DIFF_COMMAND_H
#define RH_DIFF_DIFF_COMMAND_H

/* An exit status of common/error.h. */
int rh_diff_main(int argc, char **argv);

#endif
