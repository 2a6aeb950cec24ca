/*
 * common/opt.h
 *
 * One table of options feeds the parser, --help, completion and the manual page.  Each tool has a
 * struct of options; a row says where in it the value goes and which function reads the value.
 */
#ifndef RH_COMMON_OPT_H
#define RH_COMMON_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

/* What a row of a table leaves out is zero, and means "none". */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Reads `arg` (NULL for an option without value) into *target.  The error's text is the reason
 * alone
 * ("must be above 0"): the parser puts "option --name: " before it. */
typedef int rh_opt_reader(const char *arg, void *target, struct rh_error *err);

enum rh_opt_arg { RH_OPT_NO_ARG, RH_OPT_ARG, RH_OPT_MAYBE_ARG /* --name or --name=VALUE */ };

struct rh_opt {
    const char *name; /* long name without the dashes; NULL: `group` is a heading row */
    char letter;      /* short name or 0 */
    enum rh_opt_arg has_arg;
    const char *arg; /* what --help calls the value */
    rh_opt_reader *read;
    size_t offset;     /* of the target in the options struct */
    const char *help;  /* lower case, no full stop; may hold line breaks; NULL: not shown */
    const char *group; /* heading in --help, from this row on */
    const char *words; /* complete the value; see rh_opt_completion() */
};

struct rh_opt_command {
    const char *program;          /* "pgrehearse-replay" */
    const char *synopsis;         /* "[OPTION]... T.trace", one line a form */
    const char *summary;          /* one sentence */
    const struct rh_opt *options; /* ends with a row of zeros */
    const char *footer;           /* examples; may be NULL */
    const char *first_words;      /* the first operand is one of these words; may be NULL */
    const char *operand_words;    /* complete the other operands; NULL: any file */
};

struct rh_str_list {
    const char **items; /* point into argv */
    size_t count;
    size_t cap;
};

enum rh_opt_result { RH_OPT_RUN, RH_OPT_EXIT_DONE, RH_OPT_EXIT_USAGE };

/*
 * Parse argv[1..] by the table into `options`; operands (and all behind "--") go to *operands in
 * their order; options and operands may mix.  --help/-? and --version/-V are known to every
 * command, print to stdout and give RH_OPT_EXIT_DONE; so are --completion and --man-options, which
 * are not shown.  A mistake prints one line, with the nearest known name, to stderr and gives
 * RH_OPT_EXIT_USAGE. Nothing is copied: argv must stay.  Values: --name VALUE, --name=VALUE, -n
 * VALUE, -nVALUE; flags may be combined (-ab).
 */
enum rh_opt_result rh_opt_parse(const struct rh_opt_command *command, int argc, char **argv,
                                void *options, struct rh_str_list *operands);

/* A whole command: parse, then run(options, operands).  The exit status of either. */
int rh_opt_run(const struct rh_opt_command *command, int argc, char **argv, void *options,
               int (*run)(void *options, const struct rh_str_list *operands));

/* Lines of at most 95 columns. */
void rh_opt_help(const struct rh_opt_command *command, FILE *out);
/*
 * What the shell needs, one line an option; fields are separated by tabs:
 *     --quiet
 *     --format= -f text json      "--name=" where a value must follow; "-" for no letter
 *     operand 1 log               the first operand
 *     operand * *.trace *.run     the others
 * The last field is empty, or the table's words: each is a word, a word that ends with "=" and goes
 * on, or, with a "*", a pattern of file names.  A value called FILE has the pattern "*".
 */
void rh_opt_completion(const struct rh_opt_command *command, FILE *out);
/* The options as mdoc(7) source, a subsection a group; for the place @OPTIONS@ of a page. */
void rh_opt_man(const struct rh_opt_command *command, FILE *out);
/* "pgrehearse-replay (pgrehearse) 0.1.0", with the commit where that is known. */
void rh_opt_version(const char *program, FILE *out);
void rh_str_list_release(struct rh_str_list *list);

/* What every command knows beside its table; ends with a row of zeros.  For the parser and --help.
 */
extern const struct rh_opt rh_opt_common[];

/* Readers, by type of the target.  Bytes without a unit are bytes (units are powers of 1024, as the
 * server has them); a duration without a unit is in seconds (ns us ms s min h d). */
int rh_opt_flag(const char *arg, void *target, struct rh_error *err);   /* bool, set to true */
int rh_opt_string(const char *arg, void *target, struct rh_error *err); /* const char * */
int rh_opt_list(const char *arg, void *target, struct rh_error *err);   /* struct rh_str_list */
int rh_opt_count(const char *arg, void *target, struct rh_error *err);  /* uint32_t, 1 or more */
int rh_opt_number(const char *arg, void *target, struct rh_error *err); /* uint32_t, 0 or more */
int rh_opt_double(const char *arg, void *target, struct rh_error *err); /* double, above 0 */
int rh_opt_bytes(const char *arg, void *target,
                 struct rh_error *err); /* uint64_t: 10kB 64MB 1.5GB */
int rh_opt_duration(const char *arg, void *target, struct rh_error *err); /* int64_t ns: 10ms 2h */
int rh_opt_time(const char *arg, void *target, struct rh_error *err);     /* int64_t ns, wall */

#endif
