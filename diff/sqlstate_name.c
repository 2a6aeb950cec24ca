#include "diff/sqlstate_name.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formats/record.h"

/* In the order of strcmp(). */
static const struct {
    char state[6];
    const char *name;
} names[] = {
    {"08000", "connection_exception"},
    {"08003", "connection_does_not_exist"},
    {"08006", "connection_failure"},
    {"08P01", "protocol_violation"},
    {"0A000", "feature_not_supported"},
    {"21000", "cardinality_violation"},
    {"22000", "data_exception"},
    {"22001", "string_data_right_truncation"},
    {"22003", "numeric_value_out_of_range"},
    {"22007", "invalid_datetime_format"},
    {"22008", "datetime_field_overflow"},
    {"22012", "division_by_zero"},
    {"22021", "character_not_in_repertoire"},
    {"22023", "invalid_parameter_value"},
    {"22P02", "invalid_text_representation"},
    {"22P03", "invalid_binary_representation"},
    {"22P05", "untranslatable_character"},
    {"23502", "not_null_violation"},
    {"23503", "foreign_key_violation"},
    {"23505", "unique_violation"},
    {"23514", "check_violation"},
    {"23P01", "exclusion_violation"},
    {"25001", "active_sql_transaction"},
    {"25006", "read_only_sql_transaction"},
    {"25P01", "no_active_sql_transaction"},
    {"25P02", "in_failed_sql_transaction"},
    {"25P03", "idle_in_transaction_session_timeout"},
    {"26000", "invalid_sql_statement_name"},
    {"28000", "invalid_authorization_specification"},
    {"28P01", "invalid_password"},
    {"2BP01", "dependent_objects_still_exist"},
    {"34000", "invalid_cursor_name"},
    {"3D000", "invalid_catalog_name"},
    {"3F000", "invalid_schema_name"},
    {"40001", "serialization_failure"},
    {"40P01", "deadlock_detected"},
    {"42501", "insufficient_privilege"},
    {"42601", "syntax_error"},
    {"42701", "duplicate_column"},
    {"42702", "ambiguous_column"},
    {"42703", "undefined_column"},
    {"42704", "undefined_object"},
    {"42710", "duplicate_object"},
    {"42723", "duplicate_function"},
    {"42725", "ambiguous_function"},
    {"42803", "grouping_error"},
    {"42804", "datatype_mismatch"},
    {"42809", "wrong_object_type"},
    {"42846", "cannot_coerce"},
    {"42883", "undefined_function"},
    {"42P01", "undefined_table"},
    {"42P02", "undefined_parameter"},
    {"42P03", "duplicate_cursor"},
    {"42P05", "duplicate_prepared_statement"},
    {"42P07", "duplicate_table"},
    {"42P08", "ambiguous_parameter"},
    {"42P18", "indeterminate_datatype"},
    {"53100", "disk_full"},
    {"53200", "out_of_memory"},
    {"53300", "too_many_connections"},
    {"54001", "statement_too_complex"},
    {"54023", "too_many_arguments"},
    {"55000", "object_not_in_prerequisite_state"},
    {"55006", "object_in_use"},
    {"55P03", "lock_not_available"},
    {"57014", "query_canceled"},
    {"57P01", "admin_shutdown"},
    {"57P02", "crash_shutdown"},
    {"57P03", "cannot_connect_now"},
    {"57P05", "idle_session_timeout"},
    {"58030", "io_error"},
    {"P0001", "raise_exception"},
    {"P0002", "no_data_found"},
    {"P0003", "too_many_rows"},
    {"XX000", "internal_error"},
    {"XX001", "data_corrupted"},
    {"XX002", "index_corrupted"},
};

static int compare_state(const void *key, const void *row)
{
    return strcmp(key, row);
}

const char *rh_sqlstate_name(uint32_t sqlstate)
{
    char state[6];
    rh_sqlstate_unpack(sqlstate, state);
    const char *row =
        bsearch(state, names, sizeof names / sizeof names[0], sizeof names[0], compare_state);
    return row ? names[(size_t) (row - (const char *) names) / sizeof names[0]].name : NULL;
}
