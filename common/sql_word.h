/*
 * common/sql_word.h
 *
 * The words of SQL that mean something here: every keyword that cannot name a column or table
 * without quotes (src/include/parser/kwlist.h, 18), and the free ones that this project looks at.
 */
#ifndef RH_COMMON_SQL_WORD_H
#define RH_COMMON_SQL_WORD_H

#include <stdbool.h>

#include "common/span.h"

/* Kinds of keyword as in kwlist.h; RH_WORD_SIGN: a + or - behind it is a sign, because the word
 * ends no operand (BETWEEN, which may be a column's name, is not among them). */
enum rh_word_flag {
    RH_WORD_FREE = 0, /* unreserved, or no keyword at all */
    RH_WORD_RESERVED = 1 << 0,
    RH_WORD_TYPE_FUNC = 1 << 1, /* may name a function or type only */
    RH_WORD_COLUMN = 1 << 2,    /* may name a column, no function or type */
    RH_WORD_KEYWORD = RH_WORD_RESERVED | RH_WORD_TYPE_FUNC | RH_WORD_COLUMN,
    RH_WORD_SIGN = 1 << 3,
};

/* clang-format off */
/* In the order of strcmp(): rh_sql_word_find() searches by halves. */
#define RH_SQL_WORDS(X) \
    X(ABORT, "abort", RH_WORD_FREE)                              \
    X(ADD, "add", RH_WORD_FREE)                                  \
    X(ADMIN, "admin", RH_WORD_FREE)                              \
    X(ALL, "all", RH_WORD_RESERVED | RH_WORD_SIGN)               \
    X(ALTER, "alter", RH_WORD_FREE)                              \
    X(ANALYSE, "analyse", RH_WORD_RESERVED)                      \
    X(ANALYZE, "analyze", RH_WORD_RESERVED)                      \
    X(AND, "and", RH_WORD_RESERVED | RH_WORD_SIGN)               \
    X(ANY, "any", RH_WORD_RESERVED)                              \
    X(ARRAY, "array", RH_WORD_RESERVED)                          \
    X(AS, "as", RH_WORD_RESERVED)                                \
    X(ASC, "asc", RH_WORD_RESERVED)                              \
    X(ASYMMETRIC, "asymmetric", RH_WORD_RESERVED | RH_WORD_SIGN) \
    X(ATOMIC, "atomic", RH_WORD_FREE)                            \
    X(AUTHORIZATION, "authorization", RH_WORD_TYPE_FUNC)         \
    X(BEGIN, "begin", RH_WORD_FREE)                              \
    X(BETWEEN, "between", RH_WORD_COLUMN)                        \
    X(BIGINT, "bigint", RH_WORD_COLUMN)                          \
    X(BINARY, "binary", RH_WORD_TYPE_FUNC)                       \
    X(BIT, "bit", RH_WORD_COLUMN)                                \
    X(BOOL, "bool", RH_WORD_FREE)                                \
    X(BOOLEAN, "boolean", RH_WORD_COLUMN)                        \
    X(BOTH, "both", RH_WORD_RESERVED | RH_WORD_SIGN)             \
    X(BY, "by", RH_WORD_FREE)                                    \
    X(BYPASSRLS, "bypassrls", RH_WORD_FREE)                      \
    X(CASE, "case", RH_WORD_RESERVED | RH_WORD_SIGN)             \
    X(CAST, "cast", RH_WORD_RESERVED)                            \
    X(CHAIN, "chain", RH_WORD_FREE)                              \
    X(CHAR, "char", RH_WORD_COLUMN)                              \
    X(CHARACTER, "character", RH_WORD_COLUMN)                    \
    X(CHARACTERISTICS, "characteristics", RH_WORD_FREE)          \
    X(CHECK, "check", RH_WORD_RESERVED)                          \
    X(CLIENT_ENCODING, "client_encoding", RH_WORD_FREE)          \
    X(COALESCE, "coalesce", RH_WORD_COLUMN)                      \
    X(COLLATE, "collate", RH_WORD_RESERVED)                      \
    X(COLLATION, "collation", RH_WORD_TYPE_FUNC)                 \
    X(COLUMN, "column", RH_WORD_RESERVED)                        \
    X(COMMIT, "commit", RH_WORD_FREE)                            \
    X(CONCURRENTLY, "concurrently", RH_WORD_TYPE_FUNC)           \
    X(CONNECTION, "connection", RH_WORD_FREE)                    \
    X(CONSTRAINT, "constraint", RH_WORD_RESERVED)                \
    X(CONSTRAINTS, "constraints", RH_WORD_FREE)                  \
    X(COPY, "copy", RH_WORD_FREE)                                \
    X(CREATE, "create", RH_WORD_RESERVED)                        \
    X(CREATEDB, "createdb", RH_WORD_FREE)                        \
    X(CREATEROLE, "createrole", RH_WORD_FREE)                    \
    X(CROSS, "cross", RH_WORD_TYPE_FUNC)                         \
    X(CURRENT_CATALOG, "current_catalog", RH_WORD_RESERVED)      \
    X(CURRENT_DATE, "current_date", RH_WORD_RESERVED)            \
    X(CURRENT_ROLE, "current_role", RH_WORD_RESERVED)            \
    X(CURRENT_SCHEMA, "current_schema", RH_WORD_TYPE_FUNC)       \
    X(CURRENT_TIME, "current_time", RH_WORD_RESERVED)            \
    X(CURRENT_TIMESTAMP, "current_timestamp", RH_WORD_RESERVED)  \
    X(CURRENT_USER, "current_user", RH_WORD_RESERVED)            \
    X(DATE, "date", RH_WORD_FREE)                                \
    X(DAY, "day", RH_WORD_FREE)                                  \
    X(DEALLOCATE, "deallocate", RH_WORD_FREE)                    \
    X(DEC, "dec", RH_WORD_COLUMN)                                \
    X(DECIMAL, "decimal", RH_WORD_COLUMN)                        \
    X(DEFAULT, "default", RH_WORD_RESERVED | RH_WORD_SIGN)       \
    X(DEFERRABLE, "deferrable", RH_WORD_RESERVED)                \
    X(DESC, "desc", RH_WORD_RESERVED)                            \
    X(DISCARD, "discard", RH_WORD_FREE)                          \
    X(DISTINCT, "distinct", RH_WORD_RESERVED | RH_WORD_SIGN)     \
    X(DO, "do", RH_WORD_RESERVED)                                \
    X(DROP, "drop", RH_WORD_FREE)                                \
    X(ELSE, "else", RH_WORD_RESERVED | RH_WORD_SIGN)             \
    X(ENCRYPTED, "encrypted", RH_WORD_FREE)                      \
    X(END, "end", RH_WORD_RESERVED)                              \
    X(EXCEPT, "except", RH_WORD_RESERVED)                        \
    X(EXISTS, "exists", RH_WORD_COLUMN)                          \
    X(EXTRACT, "extract", RH_WORD_COLUMN)                        \
    X(FALSE, "false", RH_WORD_RESERVED)                          \
    X(FETCH, "fetch", RH_WORD_RESERVED | RH_WORD_SIGN)           \
    X(FIRST, "first", RH_WORD_FREE)                              \
    X(FLOAT, "float", RH_WORD_COLUMN)                            \
    X(FLOAT4, "float4", RH_WORD_FREE)                            \
    X(FLOAT8, "float8", RH_WORD_FREE)                            \
    X(FOR, "for", RH_WORD_RESERVED | RH_WORD_SIGN)               \
    X(FOREIGN, "foreign", RH_WORD_RESERVED)                      \
    X(FREEZE, "freeze", RH_WORD_TYPE_FUNC)                       \
    X(FROM, "from", RH_WORD_RESERVED | RH_WORD_SIGN)             \
    X(FULL, "full", RH_WORD_TYPE_FUNC)                           \
    X(FUNCTION, "function", RH_WORD_FREE)                        \
    X(GLOBAL, "global", RH_WORD_FREE)                            \
    X(GRANT, "grant", RH_WORD_RESERVED)                          \
    X(GREATEST, "greatest", RH_WORD_COLUMN)                      \
    X(GROUP, "group", RH_WORD_RESERVED)                          \
    X(GROUPING, "grouping", RH_WORD_COLUMN)                      \
    X(HAVING, "having", RH_WORD_RESERVED | RH_WORD_SIGN)         \
    X(HOUR, "hour", RH_WORD_FREE)                                \
    X(ILIKE, "ilike", RH_WORD_TYPE_FUNC | RH_WORD_SIGN)          \
    X(IN, "in", RH_WORD_RESERVED | RH_WORD_SIGN)                 \
    X(INHERIT, "inherit", RH_WORD_FREE)                          \
    X(INITIALLY, "initially", RH_WORD_RESERVED)                  \
    X(INNER, "inner", RH_WORD_TYPE_FUNC)                         \
    X(INOUT, "inout", RH_WORD_COLUMN)                            \
    X(INT, "int", RH_WORD_COLUMN)                                \
    X(INT2, "int2", RH_WORD_FREE)                                \
    X(INT4, "int4", RH_WORD_FREE)                                \
    X(INT8, "int8", RH_WORD_FREE)                                \
    X(INTEGER, "integer", RH_WORD_COLUMN)                        \
    X(INTERSECT, "intersect", RH_WORD_RESERVED)                  \
    X(INTERVAL, "interval", RH_WORD_COLUMN)                      \
    X(INTO, "into", RH_WORD_RESERVED)                            \
    X(IS, "is", RH_WORD_TYPE_FUNC | RH_WORD_SIGN)                \
    X(ISNULL, "isnull", RH_WORD_TYPE_FUNC)                       \
    X(JOIN, "join", RH_WORD_TYPE_FUNC)                           \
    X(JSON, "json", RH_WORD_COLUMN)                              \
    X(JSON_ARRAY, "json_array", RH_WORD_COLUMN)                  \
    X(JSON_ARRAYAGG, "json_arrayagg", RH_WORD_COLUMN)            \
    X(JSON_EXISTS, "json_exists", RH_WORD_COLUMN)                \
    X(JSON_OBJECT, "json_object", RH_WORD_COLUMN)                \
    X(JSON_OBJECTAGG, "json_objectagg", RH_WORD_COLUMN)          \
    X(JSON_QUERY, "json_query", RH_WORD_COLUMN)                  \
    X(JSON_SCALAR, "json_scalar", RH_WORD_COLUMN)                \
    X(JSON_SERIALIZE, "json_serialize", RH_WORD_COLUMN)          \
    X(JSON_TABLE, "json_table", RH_WORD_COLUMN)                  \
    X(JSON_VALUE, "json_value", RH_WORD_COLUMN)                  \
    X(LAST, "last", RH_WORD_FREE)                                \
    X(LATERAL, "lateral", RH_WORD_RESERVED)                      \
    X(LEADING, "leading", RH_WORD_RESERVED | RH_WORD_SIGN)       \
    X(LEAST, "least", RH_WORD_COLUMN)                            \
    X(LEFT, "left", RH_WORD_TYPE_FUNC)                           \
    X(LIKE, "like", RH_WORD_TYPE_FUNC | RH_WORD_SIGN)            \
    X(LIMIT, "limit", RH_WORD_RESERVED | RH_WORD_SIGN)           \
    X(LOCAL, "local", RH_WORD_FREE)                              \
    X(LOCALTIME, "localtime", RH_WORD_RESERVED)                  \
    X(LOCALTIMESTAMP, "localtimestamp", RH_WORD_RESERVED)        \
    X(LOGIN, "login", RH_WORD_FREE)                              \
    X(MAPPING, "mapping", RH_WORD_FREE)                          \
    X(MERGE_ACTION, "merge_action", RH_WORD_COLUMN)              \
    X(MINUTE, "minute", RH_WORD_FREE)                            \
    X(MONTH, "month", RH_WORD_FREE)                              \
    X(NAMES, "names", RH_WORD_FREE)                              \
    X(NATIONAL, "national", RH_WORD_COLUMN)                      \
    X(NATURAL, "natural", RH_WORD_TYPE_FUNC)                     \
    X(NCHAR, "nchar", RH_WORD_COLUMN)                            \
    X(NOBYPASSRLS, "nobypassrls", RH_WORD_FREE)                  \
    X(NOCREATEDB, "nocreatedb", RH_WORD_FREE)                    \
    X(NOCREATEROLE, "nocreaterole", RH_WORD_FREE)                \
    X(NOINHERIT, "noinherit", RH_WORD_FREE)                      \
    X(NOLOGIN, "nologin", RH_WORD_FREE)                          \
    X(NONE, "none", RH_WORD_COLUMN)                              \
    X(NOREPLICATION, "noreplication", RH_WORD_FREE)              \
    X(NORMALIZE, "normalize", RH_WORD_COLUMN)                    \
    X(NOSUPERUSER, "nosuperuser", RH_WORD_FREE)                  \
    X(NOT, "not", RH_WORD_RESERVED | RH_WORD_SIGN)               \
    X(NOTNULL, "notnull", RH_WORD_TYPE_FUNC)                     \
    X(NULL, "null", RH_WORD_RESERVED)                            \
    X(NULLIF, "nullif", RH_WORD_COLUMN)                          \
    X(NULLS, "nulls", RH_WORD_FREE)                              \
    X(NUMERIC, "numeric", RH_WORD_COLUMN)                        \
    X(OFFSET, "offset", RH_WORD_RESERVED | RH_WORD_SIGN)         \
    X(ON, "on", RH_WORD_RESERVED | RH_WORD_SIGN)                 \
    X(ONLY, "only", RH_WORD_RESERVED)                            \
    X(OPTION, "option", RH_WORD_FREE)                            \
    X(OPTIONS, "options", RH_WORD_FREE)                          \
    X(OR, "or", RH_WORD_RESERVED | RH_WORD_SIGN)                 \
    X(ORDER, "order", RH_WORD_RESERVED)                          \
    X(OUT, "out", RH_WORD_COLUMN)                                \
    X(OUTER, "outer", RH_WORD_TYPE_FUNC)                         \
    X(OVERLAPS, "overlaps", RH_WORD_TYPE_FUNC)                   \
    X(OVERLAY, "overlay", RH_WORD_COLUMN)                        \
    X(PASSWORD, "password", RH_WORD_FREE)                        \
    X(PG_CATALOG, "pg_catalog", RH_WORD_FREE)                    \
    X(PLACING, "placing", RH_WORD_RESERVED | RH_WORD_SIGN)       \
    X(PLANS, "plans", RH_WORD_FREE)                              \
    X(POSITION, "position", RH_WORD_COLUMN)                      \
    X(PRECISION, "precision", RH_WORD_COLUMN)                    \
    X(PREPARE, "prepare", RH_WORD_FREE)                          \
    X(PREPARED, "prepared", RH_WORD_FREE)                        \
    X(PRIMARY, "primary", RH_WORD_RESERVED)                      \
    X(PROCEDURE, "procedure", RH_WORD_FREE)                      \
    X(PROGRAM, "program", RH_WORD_FREE)                          \
    X(REAL, "real", RH_WORD_COLUMN)                              \
    X(REFERENCES, "references", RH_WORD_RESERVED)                \
    X(RELEASE, "release", RH_WORD_FREE)                          \
    X(RENAME, "rename", RH_WORD_FREE)                            \
    X(REPLACE, "replace", RH_WORD_FREE)                          \
    X(REPLICATION, "replication", RH_WORD_FREE)                  \
    X(RESET, "reset", RH_WORD_FREE)                              \
    X(RETURNING, "returning", RH_WORD_RESERVED | RH_WORD_SIGN)   \
    X(RIGHT, "right", RH_WORD_TYPE_FUNC)                         \
    X(ROLE, "role", RH_WORD_FREE)                                \
    X(ROLLBACK, "rollback", RH_WORD_FREE)                        \
    X(ROW, "row", RH_WORD_COLUMN)                                \
    X(SAVEPOINT, "savepoint", RH_WORD_FREE)                      \
    X(SCHEMA, "schema", RH_WORD_FREE)                            \
    X(SECOND, "second", RH_WORD_FREE)                            \
    X(SEED, "seed", RH_WORD_FREE)                                \
    X(SELECT, "select", RH_WORD_RESERVED | RH_WORD_SIGN)         \
    X(SERVER, "server", RH_WORD_FREE)                            \
    X(SESSION, "session", RH_WORD_FREE)                          \
    X(SESSION_USER, "session_user", RH_WORD_RESERVED)            \
    X(SET, "set", RH_WORD_FREE)                                  \
    X(SETOF, "setof", RH_WORD_COLUMN)                            \
    X(SIMILAR, "similar", RH_WORD_TYPE_FUNC | RH_WORD_SIGN)      \
    X(SMALLINT, "smallint", RH_WORD_COLUMN)                      \
    X(SOME, "some", RH_WORD_RESERVED)                            \
    X(START, "start", RH_WORD_FREE)                              \
    X(STDIN, "stdin", RH_WORD_FREE)                              \
    X(STDOUT, "stdout", RH_WORD_FREE)                            \
    X(SUBSCRIPTION, "subscription", RH_WORD_FREE)                \
    X(SUBSTRING, "substring", RH_WORD_COLUMN)                    \
    X(SUPERUSER, "superuser", RH_WORD_FREE)                      \
    X(SYMMETRIC, "symmetric", RH_WORD_RESERVED | RH_WORD_SIGN)   \
    X(SYSID, "sysid", RH_WORD_FREE)                              \
    X(SYSTEM, "system", RH_WORD_FREE)                            \
    X(SYSTEM_USER, "system_user", RH_WORD_RESERVED)              \
    X(TABLE, "table", RH_WORD_RESERVED)                          \
    X(TABLESAMPLE, "tablesample", RH_WORD_TYPE_FUNC)             \
    X(TEMP, "temp", RH_WORD_FREE)                                \
    X(TEMPORARY, "temporary", RH_WORD_FREE)                      \
    X(THEN, "then", RH_WORD_RESERVED | RH_WORD_SIGN)             \
    X(TIME, "time", RH_WORD_COLUMN)                              \
    X(TIMESTAMP, "timestamp", RH_WORD_COLUMN)                    \
    X(TIMESTAMPTZ, "timestamptz", RH_WORD_FREE)                  \
    X(TIMETZ, "timetz", RH_WORD_FREE)                            \
    X(TO, "to", RH_WORD_RESERVED | RH_WORD_SIGN)                 \
    X(TRAILING, "trailing", RH_WORD_RESERVED | RH_WORD_SIGN)     \
    X(TRANSACTION, "transaction", RH_WORD_FREE)                  \
    X(TREAT, "treat", RH_WORD_COLUMN)                            \
    X(TRIM, "trim", RH_WORD_COLUMN)                              \
    X(TRUE, "true", RH_WORD_RESERVED)                            \
    X(UESCAPE, "uescape", RH_WORD_FREE)                          \
    X(UNENCRYPTED, "unencrypted", RH_WORD_FREE)                  \
    X(UNION, "union", RH_WORD_RESERVED)                          \
    X(UNIQUE, "unique", RH_WORD_RESERVED)                        \
    X(UNTIL, "until", RH_WORD_FREE)                              \
    X(USER, "user", RH_WORD_RESERVED)                            \
    X(USING, "using", RH_WORD_RESERVED | RH_WORD_SIGN)           \
    X(VALID, "valid", RH_WORD_FREE)                              \
    X(VALUES, "values", RH_WORD_COLUMN)                          \
    X(VARCHAR, "varchar", RH_WORD_COLUMN)                        \
    X(VARIADIC, "variadic", RH_WORD_RESERVED | RH_WORD_SIGN)     \
    X(VERBOSE, "verbose", RH_WORD_TYPE_FUNC)                     \
    X(WHEN, "when", RH_WORD_RESERVED | RH_WORD_SIGN)             \
    X(WHERE, "where", RH_WORD_RESERVED | RH_WORD_SIGN)           \
    X(WINDOW, "window", RH_WORD_RESERVED)                        \
    X(WITH, "with", RH_WORD_RESERVED | RH_WORD_SIGN)             \
    X(WORK, "work", RH_WORD_FREE)                                \
    X(XML, "xml", RH_WORD_FREE)                                  \
    X(XMLATTRIBUTES, "xmlattributes", RH_WORD_COLUMN)            \
    X(XMLCONCAT, "xmlconcat", RH_WORD_COLUMN)                    \
    X(XMLELEMENT, "xmlelement", RH_WORD_COLUMN)                  \
    X(XMLEXISTS, "xmlexists", RH_WORD_COLUMN)                    \
    X(XMLFOREST, "xmlforest", RH_WORD_COLUMN)                    \
    X(XMLNAMESPACES, "xmlnamespaces", RH_WORD_COLUMN)            \
    X(XMLPARSE, "xmlparse", RH_WORD_COLUMN)                      \
    X(XMLPI, "xmlpi", RH_WORD_COLUMN)                            \
    X(XMLROOT, "xmlroot", RH_WORD_COLUMN)                        \
    X(XMLSERIALIZE, "xmlserialize", RH_WORD_COLUMN)              \
    X(XMLTABLE, "xmltable", RH_WORD_COLUMN)                      \
    X(YEAR, "year", RH_WORD_FREE)                                \
    X(ZONE, "zone", RH_WORD_FREE)
/* clang-format on */

#define RH_SQL_WORD_ID(id, text, flags) RH_W_##id,
enum rh_sql_word { RH_W_UNKNOWN, RH_SQL_WORDS(RH_SQL_WORD_ID) RH_W_COUNT };
#undef RH_SQL_WORD_ID

enum { RH_SQL_WORD_LEN_MAX = 17 };

/* Whatever its case; RH_W_UNKNOWN for other words. */
enum rh_sql_word rh_sql_word_find(struct rh_span word);
/* enum rh_word_flag; 0 for RH_W_UNKNOWN. */
unsigned rh_sql_word_flags(enum rh_sql_word word);
/* In lower case. */
const char *rh_sql_word_text(enum rh_sql_word word);

#endif
