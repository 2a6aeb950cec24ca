/*
 * capture/capture_command.h
 *
 * The program pgrehearse-capture: parse the command line and run what its first word names.
 */
#ifndef RH_CAPTURE_CAPTURE_COMMAND_H
#define RH_CAPTURE_CAPTURE_COMMAND_H

/* The exit status (common/error.h). */
int rh_capture_main(int argc, char **argv);

#endif
