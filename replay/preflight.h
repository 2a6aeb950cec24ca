/*
 * replay/preflight.h
 *
 * What could spoil a rehearsal, looked for before it begins (docs/PREFLIGHT.md has the list): one
 * login as each user in each database of the plan, and questions to the catalogues.
 */
#ifndef RH_REPLAY_PREFLIGHT_H
#define RH_REPLAY_PREFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/intern.h"
#include "replay/connector.h"
#include "replay/finding.h"
#include "replay/identity.h"
#include "replay/inquiry.h"
#include "replay/plan.h"
#include "replay/preview.h"
#include "replay/server_facts.h"
#include "replay/target.h"

/* More databases are not looked at. */
enum { RH_PREFLIGHT_DATABASES = 32 };

struct rh_preflight {
    /* In. */
    const struct rh_plan *plan;
    struct rh_trace_file *file;
    const struct rh_replay_options *options;
    struct rh_connector **connector; /* freed, and then NULL, by a run that fails */
    struct rh_identities *ids;
    struct rh_findings *findings;
    const struct rh_target *target;
    struct rh_server_facts *facts; /* of each database are added; NULL: not collected */
    bool read_trace;               /* also what takes a pass over the trace */

    /* Out, until release; has_preview: after read_trace, and when a login failed. */
    struct rh_preview preview;
    bool has_preview;

    /* As whom each database was asked, in the order of the questions. */
    const struct rh_identity *database_askers[RH_PREFLIGHT_DATABASES];
    uint32_t database_count;

    /* What the server knows of the replay's users, by number in role_names. */
    struct rh_intern role_names;
    struct rh_preflight_role *roles;
    bool roles_known;
};

/* A role of the target. */
struct rh_preflight_role {
    int64_t connection_limit; /* -1: none */
    bool can_login;
    bool is_superuser;
};

void rh_preflight_init(struct rh_preflight *p);
void rh_preflight_release(struct rh_preflight *p);
/* What the server tells, by an inquiry on a connection to it.  That is best closed before what
 * follows, for it counts among the connections. */
void rh_preflight_ask(struct rh_preflight *p, struct rh_inquiry *q);
/* The other checks; also where nothing was to be asked.  What is found goes to the findings.  -1:
 * RH_ERR_REFUSED (a login led to the captured server), RH_ERR_STOPPED, or the trace cannot be read.
 */
int rh_preflight_run(struct rh_preflight *p, struct rh_error *err);

/* The role of that name on the target; NULL: none, or not known (roles_known). */
const struct rh_preflight_role *rh_preflight_role(const struct rh_preflight *p,
                                                  struct rh_span name);

/* The parts, each in a file of its name (superusers and merged: preflight_moved.c). */
void rh_preflight_cluster(struct rh_preflight *p, struct rh_inquiry *q);
void rh_preflight_roles(struct rh_preflight *p, struct rh_inquiry *q);
void rh_preflight_settings(struct rh_preflight *p, struct rh_inquiry *q);
/* Users that become superusers, once the roles are known. */
void rh_preflight_superusers(struct rh_preflight *p);
/* Databases that become one; nothing is asked for it. */
void rh_preflight_merged(struct rh_preflight *p);
int rh_preflight_logins(struct rh_preflight *p, struct rh_error *err);
/* The databases of logins that were done, each as the user that sees most there.  RH_ERR_REFUSED or
 * RH_ERR_STOPPED as above. */
int rh_preflight_databases(struct rh_preflight *p, struct rh_error *err);
/* Turn the logins that failed into findings; needs the preview. */
void rh_preflight_judge_logins(struct rh_preflight *p);

#endif
