-- One round of a support desk, whose statements fail often; run by psql without ON_ERROR_STOP.
PREPARE find_customer(text) AS SELECT id, name, city FROM customers WHERE email = $1;
EXECUTE find_customer('customer4711@example.com');
EXECUTE find_customer('O''Hara@example.com');
DEALLOCATE find_customer;
-- 23505: the address is taken
INSERT INTO customers (email, name, city) VALUES ('customer1@example.com', 'Somebody Else', 'Bonn');
-- 23514: more than there is
UPDATE stock SET quantity = quantity - 5000000 WHERE product_id = 17;
-- 42P01: a table of an old release
SELECT * FROM order_lines WHERE order_id = 4711;
-- 22012 in a transaction, which is lost with it: 25P02
BEGIN;
UPDATE orders SET status = 'returned' WHERE id = 4711;
SELECT total_cents / (quantity - quantity) FROM orders JOIN order_items ON order_id = id WHERE id = 4711;
SELECT status FROM orders WHERE id = 4711;
ROLLBACK;
-- A monitor of old: PostgreSQL 17 has these columns elsewhere
SELECT checkpoints_timed, buffers_backend FROM pg_stat_bgwriter;
