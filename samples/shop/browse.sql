-- A visitor reads a category, then one product.
\set category random(0, 39)
\set product random(1, 2000)
SELECT id, title, price_cents FROM products WHERE category = 'category-' || :category ORDER BY price_cents LIMIT 20;
SELECT p.title, p.price_cents, s.quantity FROM products p JOIN stock s ON s.product_id = p.id WHERE p.id = :product;
