/* The scanner, the template, the fingerprint, the classification and the masking of any bytes. */
#include <stdbool.h>
#include <string.h>

#include "common/secret.h"
#include "fuzz_target.h"
#include "sql_property.h"

/* Between the markers stand pieces of the text, in their order.  Not for texts that hold a marker's
 * inside: with a quote of a real one beside it, it could be taken for one. */
static int is_text_with_markers(struct rh_span masked, struct rh_span text)
{
    size_t marker_len = strlen(RH_SECRET_MARKER);
    size_t markers = 0;
    while (masked.len) {
        const char *marker = memmem(masked.data, masked.len, RH_SECRET_MARKER, marker_len);
        size_t piece = marker ? (size_t) (marker - masked.data) : masked.len;
        const char *found = memmem(text.data, text.len, masked.data, piece);
        if (!found) {
            return 0;
        }
        text.len -= (size_t) (found + piece - text.data);
        text.data = found + piece;
        markers += marker != NULL;
        size_t used = piece + (marker ? marker_len : 0);
        masked.data += used;
        masked.len -= used;
    }
    return markers > 0;
}

static bool holds_marker(struct rh_span text)
{
    return memmem(text.data, text.len, &RH_SECRET_MARKER[1], strlen(RH_SECRET_MARKER) - 2) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sql_property property;
    static struct rh_buf masked;
    if (property.tmpl.max == 0) {
        sql_property_init(&property);
        rh_buf_init(&masked, (size_t) 64 << 20);
    }
    struct rh_span text = {(const char *) data, size};
    const char *wrong = sql_property_check(&property, text);
    rh_fuzz_require(!wrong, wrong ? wrong : "");
    if (rh_secret_mask(text, &masked) && !holds_marker(text)) {
        rh_fuzz_require(is_text_with_markers(rh_buf_span(&masked), text),
                        "the masked text is the text with markers");
    }
    return 0;
}
