/*
 * diff/sqlstate_name.h
 *
 * Condition names of the SQLSTATEs that workloads meet (PostgreSQL 18, appendix A of its manual).
 */
#ifndef RH_DIFF_SQLSTATE_NAME_H
#define RH_DIFF_SQLSTATE_NAME_H

#include <stdint.h>

/* "undefined_column"; NULL when it is not among them. */
const char *rh_sqlstate_name(uint32_t sqlstate);

#endif
