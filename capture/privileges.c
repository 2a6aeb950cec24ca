#include "capture/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_BUFFER_BYTES = 16384 };

/* A decimal number of an id; false for anything else, and for (uid_t) -1, which means "leave it".
 */
static bool read_id(const char *text, unsigned long *id)
{
    char *end = NULL;
    if (!text || *text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    *id = strtoul(text, &end, 10);
    return errno == 0 && *end == '\0' && *id < UINT32_MAX;
}

static void set_name(struct rh_run_as *who, const char *name)
{
    snprintf(who->name, sizeof who->name, "%s", name);
}

static int find_named(struct rh_run_as *who, const char *user, struct rh_error *err)
{
    char buffer[NAME_BUFFER_BYTES];
    struct passwd entry;
    struct passwd *found = NULL;
    unsigned long id = 0;
    bool is_number = read_id(user, &id);
    int rc = getpwnam_r(user, &entry, buffer, sizeof buffer, &found);
    if (!found && is_number) {
        rc = getpwuid_r((uid_t) id, &entry, buffer, sizeof buffer, &found);
    }
    if (!found) {
        errno = rc;
        return rc ? rh_error_set_errno(err, "cannot look up the user \"%s\"", user)
                  : rh_error_set(err, RH_ERR_USAGE, "there is no user \"%s\"", user);
    }
    who->uid = found->pw_uid;
    who->gid = found->pw_gid;
    set_name(who, found->pw_name);
    return 0;
}

/* sudo says who called it; with SUDO_UID=0 nothing would be given up. */
static bool find_caller(struct rh_run_as *who)
{
    unsigned long uid = 0;
    unsigned long gid = 0;
    if (!read_id(getenv("SUDO_UID"), &uid) || uid == 0 || !read_id(getenv("SUDO_GID"), &gid)) {
        return false;
    }
    who->uid = (uid_t) uid;
    who->gid = (gid_t) gid;
    const char *name = getenv("SUDO_USER");
    set_name(who, name ? name : getenv("SUDO_UID"));
    return true;
}

int rh_run_as_find(struct rh_run_as *who, const char *user, struct rh_error *err)
{
    *who = (struct rh_run_as){.uid = geteuid(), .gid = getegid()};
    bool is_root = who->uid == 0;
    if (!user && !is_root) {
        snprintf(who->name, sizeof who->name, "%lu", (unsigned long) who->uid);
        return 0;
    }
    if ((user || !find_caller(who)) && find_named(who, user ? user : "nobody", err) != 0) {
        return -1;
    }
    who->change = is_root;
    if (!is_root && who->uid != geteuid()) {
        return rh_error_set(err, RH_ERR_USAGE, "only root can become \"%s\"", who->name);
    }
    return 0;
}

static int clear_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return syscall(SYS_capset, &header, none) == 0 ? 0 : -1;
}

static int set_groups(const struct rh_run_as *who)
{
    return who->uid == 0 ? setgroups(0, NULL) : initgroups(who->name, who->gid);
}

/* Groups before the user, who may not set them any more.  Of the bounding set only who may can drop
 * something; without it no_new_privs does the same. */
int rh_privileges_drop(const struct rh_run_as *who, struct rh_error *err)
{
    for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0) {
            break;
        }
    }
    /* Kernels before 4.3 have no ambient set, and then there is none to clear. */
    (void) prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (who->change && (set_groups(who) != 0 || setresgid(who->gid, who->gid, who->gid) != 0 ||
                        setresuid(who->uid, who->uid, who->uid) != 0)) {
        return rh_error_set_errno(err, "cannot become the user \"%s\"", who->name);
    }
    if (clear_capabilities() != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return rh_error_set_errno(err, "cannot give up privileges");
    }
    if (who->change && who->uid != 0 && setresuid(0, 0, 0) == 0) {
        return rh_error_set(err, RH_ERR_REFUSED, "the user \"%s\" can become root again",
                            who->name);
    }
    return 0;
}
