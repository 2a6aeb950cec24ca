/*
 * replay/null_command.h
 *
 * pgrehearse-nullserver from the command line to the exit status.
 */
#ifndef RH_REPLAY_NULL_COMMAND_H
#define RH_REPLAY_NULL_COMMAND_H

/* The exit status (enum rh_exit). */
int rh_null_command_run(int argc, char **argv);

#endif
