/*
 * replay/explain_command.h
 *
 * pgrehearse explain: plans of the queries that regressed, from both servers.
 */
#ifndef RH_REPLAY_EXPLAIN_COMMAND_H
#define RH_REPLAY_EXPLAIN_COMMAND_H

/* The exit status. */
int rh_explain_command_run(int argc, char **argv);

#endif
