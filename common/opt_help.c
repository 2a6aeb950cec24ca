#include <stdio.h>
#include <string.h>

#include "common/opt.h"

enum { WIDTH_MAX = 95, COLUMN_MAX = 32, LEFT_SIZE = 128 };

static bool row_is_last(const struct rh_opt *row)
{
    return !row->name && !row->group;
}

static bool row_is_shown(const struct rh_opt *row)
{
    return row->name && row->help;
}

/* "  -p, --port=PORT" and its length. */
static size_t format_left(const struct rh_opt *row, char left[LEFT_SIZE])
{
    char letter[] = "    ";
    if (row->letter) {
        letter[0] = '-';
        letter[1] = row->letter;
        letter[2] = ',';
    }
    const char *arg = row->arg ? row->arg : "VALUE";
    const char *before = row->has_arg == RH_OPT_ARG ? "=" : "[=";
    const char *after = row->has_arg == RH_OPT_ARG ? "" : "]";
    int n = row->has_arg == RH_OPT_NO_ARG ? snprintf(left, LEFT_SIZE, "  %s--%s", letter, row->name)
                                          : snprintf(left, LEFT_SIZE, "  %s--%s%s%s%s", letter,
                                                     row->name, before, arg, after);
    return n < LEFT_SIZE ? (size_t) n : LEFT_SIZE - 1;
}

/* Where the texts begin: two columns behind the longest left part that leaves them enough room. */
static size_t text_column(const struct rh_opt_command *command)
{
    const struct rh_opt *tables[] = {command->options, rh_opt_common};
    char left[LEFT_SIZE];
    size_t column = 0;
    for (int i = 0; i < 2; i++) {
        for (const struct rh_opt *row = tables[i]; !row_is_last(row); row++) {
            size_t len = row_is_shown(row) ? format_left(row, left) + 2 : 0;
            if (len <= COLUMN_MAX && len > column) {
                column = len;
            }
        }
    }
    return column;
}

/* Words of text from the present column `at` on, further lines indented to `column`. */
static void print_wrapped(FILE *out, const char *text, size_t column, size_t at)
{
    bool line_start = true;
    while (*text) {
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] ? (int) column : 0, "");
            at = column;
            line_start = true;
            text++;
            continue;
        }
        size_t blanks = strspn(text, " ");
        size_t word = strcspn(text + blanks, " \n");
        if (!line_start && at + blanks + word > WIDTH_MAX) {
            fprintf(out, "\n%*s", (int) column, "");
            at = column;
            text += blanks;
            blanks = 0;
        }
        fprintf(out, "%.*s", (int) (blanks + word), text);
        at += blanks + word;
        text += blanks + word;
        line_start = false;
    }
    fputc('\n', out);
}

static void print_heading(FILE *out, const char *heading)
{
    size_t len = strlen(heading);
    fprintf(out, "\n%s%s\n", heading, len > 0 && heading[len - 1] == ':' ? "" : ":");
}

static void print_rows(FILE *out, const struct rh_opt *rows, size_t column)
{
    const char *group = NULL;
    for (const struct rh_opt *row = rows; !row_is_last(row); row++) {
        if (row->name && !row->help) {
            continue;
        }
        const char *heading = row->group ? row->group : group ? NULL : "Options";
        if (heading && (!group || strcmp(heading, group) != 0)) {
            print_heading(out, heading);
            group = heading;
        }
        if (!row->name) {
            continue;
        }
        char left[LEFT_SIZE];
        size_t len = format_left(row, left);
        fputs(left, out);
        if (len + 2 > column) {
            fputc('\n', out);
            len = 0;
        }
        fprintf(out, "%*s", (int) (column - len), "");
        print_wrapped(out, row->help, column, column);
    }
}

static void print_usage(FILE *out, const struct rh_opt_command *command)
{
    fputs("\nUsage:\n", out);
    const char *line = command->synopsis;
    while (*line) {
        size_t len = strcspn(line, "\n");
        fprintf(out, "  %s %.*s\n", command->program, (int) len, line);
        line += len + (line[len] == '\n');
    }
}

void rh_opt_help(const struct rh_opt_command *command, FILE *out)
{
    size_t column = text_column(command);
    print_wrapped(out, command->summary, 0, 0);
    print_usage(out, command);
    print_rows(out, command->options, column);
    print_rows(out, rh_opt_common, column);
    if (command->footer) {
        fputc('\n', out);
        print_wrapped(out, command->footer, 0, 0);
    }
}

static void complete_option(const struct rh_opt *row, FILE *out)
{
    const char letter[] = {'-', row->letter, '\0'};
    const char *files = row->arg && strcmp(row->arg, "FILE") == 0 ? "*" : "";
    if (row->has_arg == RH_OPT_NO_ARG) {
        fprintf(out, "--%s\n", row->name);
    } else {
        fprintf(out, "--%s%s\t%s\t%s\n", row->name, row->has_arg == RH_OPT_ARG ? "=" : "", letter,
                row->words ? row->words : files);
    }
}

void rh_opt_completion(const struct rh_opt_command *command, FILE *out)
{
    const struct rh_opt *tables[] = {command->options, rh_opt_common};
    for (int i = 0; i < 2; i++) {
        for (const struct rh_opt *row = tables[i]; !row_is_last(row); row++) {
            if (row_is_shown(row)) {
                complete_option(row, out);
            }
        }
    }
    if (command->first_words) {
        fprintf(out, "operand\t1\t%s\n", command->first_words);
    }
    fprintf(out, "operand\t*\t%s\n", command->operand_words ? command->operand_words : "*");
}
