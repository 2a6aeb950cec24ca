/*
 * replay/replay_command.h
 *
 * pgrehearse-replay from the command line to the exit status.
 */
#ifndef RH_REPLAY_REPLAY_COMMAND_H
#define RH_REPLAY_REPLAY_COMMAND_H

/* The exit status (enum rh_exit). */
int rh_replay_command_run(int argc, char **argv);

#endif
