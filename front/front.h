/*
 * front/front.h
 *
 * The command's face: pgrehearse COMMAND runs pgrehearse-COMMAND; info, show and help are built in.
 */
#ifndef RH_FRONT_FRONT_H
#define RH_FRONT_FRONT_H

/* The whole program: its exit status.  Does not return where another program takes over. */
int rh_front_run(int argc, char **argv);

/* The built-in commands; argv[0] is the command's own name. */
int rh_info_run(int argc, char **argv);
int rh_show_run(int argc, char **argv);

#endif
