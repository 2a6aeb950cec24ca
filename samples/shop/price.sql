-- A price changes; the old one is read first.
\set product random(1, 2000)
\set price random(100, 9999)
BEGIN;
SELECT price_cents FROM products WHERE id = :product FOR UPDATE;
UPDATE products SET price_cents = :price WHERE id = :product;
END;
