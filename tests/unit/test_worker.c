/* replay/worker */
#include "rh_test.h"

#include "replay/worker.h"

static void fill(struct rh_buf *b, size_t n)
{
    rh_buf_clear(b);
    assert_non_null(rh_buf_reserve(b, n));
}

/* What one large statement needed is not kept for the whole run. */
static void test_trim(void **state)
{
    (void) state;
    static struct rh_worker w;
    struct rh_error err;
    assert_int_equal(rh_worker_init(&w, NULL, 0, &err), 0);
    fill(&w.text, RH_WORKER_KEEP_BYTES / 2);
    fill(&w.out, RH_WORKER_KEEP_BYTES / 2);
    rh_worker_trim(&w);
    assert_true(w.text.cap >= RH_WORKER_KEEP_BYTES / 2);
    assert_true(w.out.cap >= RH_WORKER_KEEP_BYTES / 2);
    fill(&w.text, 2 * RH_WORKER_KEEP_BYTES);
    fill(&w.out, 2 * RH_WORKER_KEEP_BYTES);
    rh_worker_trim(&w);
    assert_int_equal(w.text.cap, 0);
    assert_int_equal(w.out.cap, 0);
    fill(&w.text, 100);
    rh_worker_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
