-- An order.  Half of all orders are for one of five products, so sessions wait for each other's rows.
\set customer random(1, 20000)
\set product random(1, 2000)
\set hot random(0, 1)
\if :hot
\set product random(1, 5)
\endif
\set quantity random(1, 3)
BEGIN;
SELECT quantity FROM stock WHERE product_id = :product FOR UPDATE;
INSERT INTO orders (customer_id, status, total_cents) VALUES (:customer, 'open', :quantity * 1990) RETURNING id;
INSERT INTO order_items (order_id, product_id, quantity, price_cents) VALUES (currval('orders_id_seq'), :product, :quantity, 1990);
UPDATE stock SET quantity = quantity - :quantity WHERE product_id = :product;
COMMIT;
