#include "common/opt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/nearest.h"
#include "rh_version.h"

enum { COMMON_HELP, COMMON_VERSION, COMMON_COMPLETION, COMMON_MAN_OPTIONS };

const struct rh_opt rh_opt_common[] = {
    [COMMON_HELP] = {.name = "help",
                     .letter = '?',
                     .help = "show this help, then exit",
                     .group = "Other options"},
    [COMMON_VERSION] = {.name = "version", .letter = 'V', .help = "show the version, then exit"},
    [COMMON_COMPLETION] = {.name = "completion"},
    [COMMON_MAN_OPTIONS] = {.name = "man-options"},
    {0},
};

struct opt_parser {
    const struct rh_opt_command *command;
    int argc;
    char **argv;
    int next; /* index in argv */
    char *options;
};

static bool row_is_last(const struct rh_opt *row)
{
    return !row->name && !row->group;
}

static const struct rh_opt *find_long(const struct rh_opt *rows, const char *name, size_t len)
{
    for (const struct rh_opt *row = rows; !row_is_last(row); row++) {
        if (row->name && strncmp(row->name, name, len) == 0 && row->name[len] == '\0') {
            return row;
        }
    }
    return NULL;
}

static const struct rh_opt *find_letter(const struct rh_opt *rows, char letter)
{
    for (const struct rh_opt *row = rows; !row_is_last(row); row++) {
        if (row->name && row->letter == letter) {
            return row;
        }
    }
    return NULL;
}

static enum rh_opt_result mistake(const struct opt_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum rh_opt_result mistake(const struct opt_parser *p, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    /* The declaration's format attribute has checked the arguments. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(text, sizeof text, format, args);
#pragma GCC diagnostic pop
    va_end(args);
    fprintf(stderr, "%s: error: %s\n", p->command->program, text);
    return RH_OPT_EXIT_USAGE;
}

/* name: without dashes, without a value. */
static enum rh_opt_result unknown(const struct opt_parser *p, const char *shown, const char *name)
{
    struct rh_nearest nearest;
    rh_nearest_init(&nearest, name);
    const struct rh_opt *tables[] = {p->command->options, rh_opt_common};
    for (int i = 0; i < 2; i++) {
        for (const struct rh_opt *row = tables[i]; !row_is_last(row); row++) {
            if (row->name && row->help) {
                rh_nearest_offer(&nearest, row->name);
            }
        }
    }
    if (nearest.best) {
        return mistake(p, "unknown option \"%s\"; did you mean \"--%s\"?", shown, nearest.best);
    }
    return mistake(p, "unknown option \"%s\"; see --help", shown);
}

void rh_opt_version(const char *program, FILE *out)
{
    if (RH_COMMIT[0]) {
        fprintf(out, "%s (pgrehearse) %s (%s)\n", program, RH_VERSION, RH_COMMIT);
    } else {
        fprintf(out, "%s (pgrehearse) %s\n", program, RH_VERSION);
    }
}

static enum rh_opt_result apply(struct opt_parser *p, const struct rh_opt *row, const char *arg)
{
    if (row >= rh_opt_common && row <= &rh_opt_common[COMMON_MAN_OPTIONS]) {
        switch (row - rh_opt_common) {
        case COMMON_HELP:
            rh_opt_help(p->command, stdout);
            break;
        case COMMON_VERSION:
            rh_opt_version(p->command->program, stdout);
            break;
        case COMMON_COMPLETION:
            rh_opt_completion(p->command, stdout);
            break;
        default:
            rh_opt_man(p->command, stdout);
            break;
        }
        return RH_OPT_EXIT_DONE;
    }
    struct rh_error err = {0};
    if (row->read(arg, p->options + row->offset, &err) != 0) {
        return mistake(p, "option --%s: %s", row->name, err.text);
    }
    return RH_OPT_RUN;
}

static enum rh_opt_result no_value(const struct opt_parser *p, const struct rh_opt *row)
{
    return mistake(p, "option --%s needs a value (%s)", row->name, row->arg ? row->arg : "VALUE");
}

/* "--name" or "--name=value". */
static enum rh_opt_result parse_long(struct opt_parser *p, const char *word)
{
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t len = equals ? (size_t) (equals - name) : strlen(name);
    const struct rh_opt *row = find_long(p->command->options, name, len);
    if (!row) {
        row = find_long(rh_opt_common, name, len);
    }
    if (!row) {
        char *only_name = rh_memdup(name, len);
        enum rh_opt_result result = unknown(p, word, only_name);
        rh_free(only_name);
        return result;
    }
    const char *arg = equals ? equals + 1 : NULL;
    if (arg && row->has_arg == RH_OPT_NO_ARG) {
        return mistake(p, "option --%s takes no value", row->name);
    }
    if (!arg && row->has_arg == RH_OPT_ARG) {
        if (p->next >= p->argc) {
            return no_value(p, row);
        }
        arg = p->argv[p->next++];
    }
    return apply(p, row, arg);
}

/* "-abc", "-nVALUE" or "-n" "VALUE". */
static enum rh_opt_result parse_letters(struct opt_parser *p, const char *word)
{
    for (const char *at = word + 1; *at; at++) {
        const struct rh_opt *row = find_letter(p->command->options, *at);
        if (!row) {
            row = find_letter(rh_opt_common, *at);
        }
        if (!row) {
            char shown[3] = {'-', *at, '\0'};
            return unknown(p, word[2] ? word : shown, word + 1);
        }
        if (row->has_arg == RH_OPT_NO_ARG) {
            enum rh_opt_result result = apply(p, row, NULL);
            if (result != RH_OPT_RUN) {
                return result;
            }
            continue;
        }
        const char *arg = at[1] ? at + 1 : NULL;
        if (!arg && row->has_arg == RH_OPT_ARG) {
            if (p->next >= p->argc) {
                return no_value(p, row);
            }
            arg = p->argv[p->next++];
        }
        return apply(p, row, arg);
    }
    return RH_OPT_RUN;
}

static void str_list_add(struct rh_str_list *list, const char *item)
{
    RH_GROW(list->items, list->count, list->cap);
    list->items[list->count++] = item;
}

enum rh_opt_result rh_opt_parse(const struct rh_opt_command *command, int argc, char **argv,
                                void *options, struct rh_str_list *operands)
{
    struct opt_parser p = {command, argc, argv, 1, options};
    bool only_operands = false;
    while (p.next < argc) {
        const char *word = argv[p.next++];
        enum rh_opt_result result = RH_OPT_RUN;
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            str_list_add(operands, word);
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (word[1] == '-') {
            result = parse_long(&p, word);
        } else {
            result = parse_letters(&p, word);
        }
        if (result != RH_OPT_RUN) {
            return result;
        }
    }
    return RH_OPT_RUN;
}

int rh_opt_list(const char *arg, void *target, struct rh_error *err)
{
    (void) err;
    str_list_add(target, arg);
    return 0;
}

void rh_str_list_release(struct rh_str_list *list)
{
    rh_free((void *) list->items);
    *list = (struct rh_str_list){0};
}

int rh_opt_run(const struct rh_opt_command *command, int argc, char **argv, void *options,
               int (*run)(void *options, const struct rh_str_list *operands))
{
    struct rh_str_list operands = {0};
    int status = RH_EXIT_TROUBLE;
    switch (rh_opt_parse(command, argc, argv, options, &operands)) {
    case RH_OPT_RUN:
        status = run(options, &operands);
        break;
    case RH_OPT_EXIT_DONE:
        status = RH_EXIT_DONE;
        break;
    case RH_OPT_EXIT_USAGE:
        break;
    }
    rh_str_list_release(&operands);
    return status;
}
