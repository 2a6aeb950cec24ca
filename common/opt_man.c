#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/opt.h"

static bool row_is_last(const struct rh_opt *row)
{
    return !row->name && !row->group;
}

/* A word on a macro line: a short one could be a macro's name or a delimiter. */
static void put_word(FILE *out, const char *word)
{
    if (strlen(word) <= 3) {
        fputs("\\&", out);
    }
    for (; *word; word++) {
        fputs(*word == '\\' ? "\\e" : (char[]){*word, '\0'}, out);
    }
}

/* A line of text; a control character at its start would make it a request. */
static void put_text_line(FILE *out, const char *line, size_t len)
{
    if (len > 0 && (line[0] == '.' || line[0] == '\'')) {
        fputs("\\&", out);
    }
    for (size_t i = 0; i < len; i++) {
        bool option_dash = line[i] == '-' && i + 1 < len && line[i + 1] != ' ' &&
                           (i == 0 || !isalnum((unsigned char) line[i - 1]));
        if (line[i] == '\\') {
            fputs("\\e", out);
        } else if (option_dash) {
            fputs("\\-", out);
        } else {
            fputc(line[i], out);
        }
    }
    fputc('\n', out);
}

static void put_text(FILE *out, const char *text)
{
    while (*text) {
        text += strspn(text, " ");
        size_t len = strcspn(text, "\n");
        if (len > 0) {
            put_text_line(out, text, len);
        } else {
            fputs(".Pp\n", out);
        }
        text += len + (text[len] == '\n');
    }
}

/* ".It Fl o , Fl -output Ns = Ns Ar FILE" and the text. */
static void put_option(FILE *out, const struct rh_opt *row)
{
    const char letter[] = {row->letter, '\0'};
    fputs(".It ", out);
    if (row->letter) {
        fputs("Fl ", out);
        put_word(out, letter);
        fputs(" , ", out);
    }
    fprintf(out, "Fl -%s", row->name);
    if (row->has_arg != RH_OPT_NO_ARG) {
        fputs(row->has_arg == RH_OPT_ARG ? " Ns = Ns Ar " : " Ns Oo = Ns Ar ", out);
        put_word(out, row->arg ? row->arg : "VALUE");
        fputs(row->has_arg == RH_OPT_ARG ? "" : " Oc", out);
    }
    fputc('\n', out);
    put_text(out, row->help);
}

static void put_group(FILE *out, const char *group)
{
    int len = (int) strlen(group);
    len -= len > 0 && group[len - 1] == ':';
    fprintf(out, ".Ss %.*s\n.Bl -tag -width Ds\n", len, group);
}

void rh_opt_man(const struct rh_opt_command *command, FILE *out)
{
    const struct rh_opt *tables[] = {command->options, rh_opt_common};
    const char *open = NULL; /* the group whose list is open */
    const char *next = "Options";
    for (int i = 0; i < 2; i++) {
        for (const struct rh_opt *row = tables[i]; !row_is_last(row); row++) {
            next = row->group ? row->group : next;
            if (!row->name || !row->help) {
                continue;
            }
            /* No heading of an empty group, and a group that goes on has one. */
            if (!open || strcmp(open, next) != 0) {
                fputs(open ? ".El\n" : "", out);
                put_group(out, next);
                open = next;
            }
            put_option(out, row);
        }
    }
    fputs(open ? ".El\n" : "", out);
}
