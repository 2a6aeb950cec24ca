#include "rh_test.h"

#include "diff/volatile_text.h"

static void check(const char *sql, bool wanted)
{
    if (rh_volatile_text(rh_span_cstr(sql)) != wanted) {
        fail_msg("%s: %s", wanted ? "not seen" : "not volatile", sql);
    }
}

static void test_volatile(void **state)
{
    (void) state;
    static const char *const texts[] = {
        "select * from orders where ordered_at > now() - interval ?",
        "select * from orders where day = CURRENT_DATE",
        "select * from a join b on a.at < clock_timestamp()",
        "delete from sessions where expires < current_timestamp",
        "update t set a = ? where at < pg_catalog . now ( )",
        "select * from t order by random() limit ?",
        "select * from t tablesample bernoulli (?)",
        "select * from t limit ? offset random() * ?",
        "select distinct random() from t",
        "select count(*) from t having max(at) < localtimestamp",
        "insert into log select * from t where id > nextval(?)",
        "select * from t where pid = /* me */ pg_backend_pid /* here */ ()",
        "delete from t using u where t.at < statement_timestamp()",
        "with x as (select id from t where at < now()) select * from x",
        "select extract(epoch from now())", /* FROM is not told apart here: no harm */
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check(texts[i], true);
    }
}

static void test_not_volatile(void **state)
{
    (void) state;
    static const char *const texts[] = {
        "",
        "select ?",
        "select now()",
        "select now(), * from t where id = ?",
        "insert into t (id, at) values (nextval(?), now())",
        "insert into t (id, at) values (?, now()) on conflict (id) do update set at = now()",
        "insert into t values (?) on conflict do nothing returning id, now()",
        "update t set at = now(), n = random() where id = ?",
        "update t set at = current_timestamp where id = ?; update t set at = now() where id = ?",
        "select now from t where now = ?",
        "select * from t where t.now = ? and t.current_date = ?",
        "select * from t where \"current_date\" = ?",
        "select * from t where a = 'now()'",
        "select * from t /* where at < now() */ where id = ? -- random()",
        "select * from t where my_now() = ?",
        "select * from nowhere where id = random",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check(texts[i], false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volatile),
        cmocka_unit_test(test_not_volatile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
