-- A customer looks at the last orders.
\set customer random(1, 20000)
SELECT id, status, total_cents, ordered_at FROM orders WHERE customer_id = :customer ORDER BY ordered_at DESC LIMIT 10;
