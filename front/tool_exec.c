#include "front/tool_exec.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 40 };

/* No more than letters and dashes: a name with a slash would run any file. */
static bool name_is_plain(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return len > 0 && len <= NAME_MAX_BYTES && name[len] == '\0';
}

/* The folder of this executable, with its slash; empty if it cannot be told. */
static void own_folder(char folder[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) {
        slash[1] = '\0';
    } else {
        folder[0] = '\0';
    }
}

int rh_tool_exec(char **argv, struct rh_error *err)
{
    char folder[PATH_MAX];
    char path[PATH_MAX + NAME_MAX_BYTES + sizeof "pgrehearse-"];
    char program[NAME_MAX_BYTES + sizeof "pgrehearse-"];
    if (!name_is_plain(argv[0])) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not the name of a command", argv[0]);
    }
    snprintf(program, sizeof program, "pgrehearse-%.*s", NAME_MAX_BYTES, argv[0]);
    own_folder(folder);
    char *name = argv[0];
    argv[0] = program;
    if (folder[0]) {
        snprintf(path, sizeof path, "%s%s", folder, program);
        execv(path, argv);
    }
    if (!folder[0] || errno == ENOENT) {
        execvp(program, argv);
    }
    argv[0] = name;
    if (errno == ENOENT) {
        return rh_error_set(err, RH_ERR_IO,
                            "\"%s\" is not installed: it is neither in \"%s\" nor on the PATH",
                            program, folder);
    }
    return rh_error_set_errno(err, "cannot run \"%s\"", program);
}
