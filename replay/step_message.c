#include "replay/step_message.h"

#include <string.h>

#include "formats/pg_write.h"

/* Two bytes a step, as in a record. */
static struct rh_span implied(enum rh_kind kind)
{
    switch (kind) {
    case RH_KIND_QUERY:
        return rh_span("Q\0", 2);
    case RH_KIND_EXECUTE:
        return rh_span("P\0B\0E\0S\0", 8);
    case RH_KIND_FUNCTION:
        return rh_span("F\0", 2);
    case RH_KIND_FETCH:
        return rh_span("E\0S\0", 4);
    case RH_KIND_PROTOCOL:
        return rh_span("P\0S\0", 4);
    default:
        return RH_SPAN_NONE;
    }
}

static struct rh_span steps_of(const struct rh_record *r)
{
    return r->steps.len > 0 ? r->steps : implied(r->kind);
}

size_t rh_step_count(const struct rh_record *r)
{
    return steps_of(r).len / 2;
}

char rh_step_letter(const struct rh_record *r, size_t i)
{
    return steps_of(r).data[2 * i];
}

uint32_t rh_step_awaits(const struct rh_record *r, size_t i)
{
    if (r->steps.len == 0) {
        return i == 0 ? 0 : RH_STEP_AWAITS_MANY; /* all at once, when what is before is answered */
    }
    return (uint8_t) r->steps.data[2 * i + 1];
}

bool rh_step_has(const struct rh_record *r, char letter)
{
    for (size_t i = 0; i < rh_step_count(r); i++) {
        if (rh_step_letter(r, i) == letter) {
            return true;
        }
    }
    return false;
}

char rh_step_type(char letter)
{
    switch (letter) {
    case 'R':
        return 'P';
    case 'O':
    case 'A':
        return 'B';
    case 'o':
    case 'a':
        return 'F';
    default:
        return letter != '\0' && strchr("QPBDtCpEHSFd", letter) ? letter : '\0';
    }
}

bool rh_step_is_answered(char letter)
{
    return letter != 'H' && letter != 'd' && rh_step_type(letter) != '\0';
}

bool rh_step_flushes(char letter)
{
    return letter != '\0' && strchr("QFoaSH", letter);
}

bool rh_step_has_text(char letter)
{
    return letter == 'Q' || letter == 'P' || letter == 'R';
}

static int write_parse(char letter, const struct rh_record *r, struct rh_span text,
                       struct rh_arena *arena, struct rh_buf *out, struct rh_error *err)
{
    uint32_t count = r->param_count;
    while (letter == 'P' && count > 0 && r->params[count - 1].type == 0) {
        count--;
    }
    uint32_t *types = count > 0 ? rh_arena_alloc(arena, count * sizeof *types) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        types[i] = r->params[i].type;
    }
    return rh_pg_write_parse(out, r->statement_name, text, types, count, err);
}

/* B and F have their formats in the shortest form. */
static enum rh_pg_formats formats_of(char letter)
{
    return letter == 'O' || letter == 'o'   ? RH_PG_FORMATS_ONE
           : letter == 'A' || letter == 'a' ? RH_PG_FORMATS_EACH
                                            : RH_PG_FORMATS_SHORTEST;
}

static int write_bind(char letter, const struct rh_record *r, struct rh_buf *out,
                      struct rh_error *err)
{
    struct rh_pg_bind bind = rh_pg_bind_of(r);
    bind.formats = formats_of(letter);
    return rh_pg_write_bind(out, &bind, err);
}

static int write_call(char letter, const struct rh_record *r, struct rh_buf *out,
                      struct rh_error *err)
{
    struct rh_pg_function_call call = rh_pg_function_call_of(r);
    call.formats = formats_of(letter);
    return rh_pg_write_function_call(out, &call, err);
}

int rh_step_write(char letter, const struct rh_record *r, struct rh_span text,
                  struct rh_arena *arena, struct rh_buf *out, struct rh_error *err)
{
    switch (letter) {
    case 'Q':
        return rh_pg_write_query(out, text, err);
    case 'P':
    case 'R':
        return write_parse(letter, r, text, arena, out, err);
    case 'B':
    case 'O':
    case 'A':
        return write_bind(letter, r, out, err);
    case 'D':
        return rh_pg_write_describe(out, RH_PG_PORTAL, r->portal_name, err);
    case 't':
        return rh_pg_write_describe(out, RH_PG_STATEMENT, r->statement_name, err);
    case 'p':
        return rh_pg_write_close(out, RH_PG_PORTAL, r->portal_name, err);
    case 'C':
        return rh_pg_write_close(out, RH_PG_STATEMENT, r->statement_name, err);
    case 'E':
        return rh_pg_write_execute(out, r->portal_name, r->row_limit, err);
    case 'H':
        return rh_pg_write_flush(out, err);
    case 'S':
        return rh_pg_write_sync(out, err);
    case 'F':
    case 'o':
    case 'a':
        return write_call(letter, r, out, err);
    default:
        return rh_error_set(err, RH_ERR_FORMAT, "a step 0x%02x is not known",
                            (unsigned) (unsigned char) letter);
    }
}
