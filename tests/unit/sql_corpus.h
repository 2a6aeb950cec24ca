/*
 * tests/unit/sql_corpus.h
 *
 * Walks the log files of the corpus as a source of texts, when it is there.
 */
#ifndef RH_TESTS_UNIT_SQL_CORPUS_H
#define RH_TESTS_UNIT_SQL_CORPUS_H

#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/span.h"

typedef void sql_corpus_visitor(struct rh_span text);

static sql_corpus_visitor *sql_corpus_visit;
static size_t sql_corpus_files;

/* Every quoted field as csvlog writes it (quotes still doubled), and every line. */
static inline void sql_corpus_visit_lines(struct rh_span data, bool fields_only)
{
    while (data.len) {
        const char *newline = memchr(data.data, '\n', data.len);
        size_t len = newline ? (size_t) (newline - data.data) : data.len;
        if (!fields_only) {
            sql_corpus_visit((struct rh_span){data.data, len});
        }
        const char *quote = memchr(data.data, '"', len);
        while (quote) {
            const char *start = quote + 1;
            const char *end = memchr(start, '"', (size_t) (data.data + len - start));
            if (!end) {
                break;
            }
            if (end - start > 12) { /* shorter ones are names and numbers */
                sql_corpus_visit((struct rh_span){start, (size_t) (end - start)});
            }
            quote = memchr(end + 1, '"', (size_t) (data.data + len - end - 1));
        }
        data.data += len + (newline != NULL);
        data.len -= len + (newline != NULL);
    }
}

static inline int sql_corpus_file(const char *path, const struct stat *st, int type,
                                  struct FTW *where)
{
    enum { WHOLE_MAX = 64 * 1024 };
    (void) where;
    const char *dot = strrchr(path, '.');
    bool text = dot && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".log") == 0 ||
                        strcmp(dot, ".json") == 0 || strcmp(dot, ".tsv") == 0);
    if (type != FTW_F || !text || st->st_size <= 0) {
        return 0;
    }
    FILE *f = fopen(path, "rb");
    if (!f) {
        return 0;
    }
    char *data = rh_malloc((size_t) st->st_size);
    size_t n = fread(data, 1, (size_t) st->st_size, f);
    (void) fclose(f);
    sql_corpus_visit_lines((struct rh_span){data, n}, strcmp(dot, ".csv") == 0);
    if (n <= WHOLE_MAX) {
        sql_corpus_visit((struct rh_span){data, n}); /* and the file as one text */
    }
    rh_free(data);
    sql_corpus_files++;
    return 0;
}

/* How many files were read; 0: there is no corpus. */
static inline size_t sql_corpus_walk(sql_corpus_visitor *visit)
{
    enum { OPEN_MAX_DIRS = 16 };
    sql_corpus_visit = visit;
    sql_corpus_files = 0;
    (void) nftw(RH_DATA_DIR, sql_corpus_file, OPEN_MAX_DIRS, FTW_PHYS);
    if (sql_corpus_files == 0) {
        print_message("SKIPPED: no corpus in %s\n", RH_DATA_DIR);
    }
    return sql_corpus_files;
}

#endif
