/*
 * replay/calibrate_command.h
 *
 * pgrehearse-calibrate from the command line to the exit status.
 */
#ifndef RH_REPLAY_CALIBRATE_COMMAND_H
#define RH_REPLAY_CALIBRATE_COMMAND_H

/* The exit status (enum rh_exit). */
int rh_calibrate_command_run(int argc, char **argv);

#endif
