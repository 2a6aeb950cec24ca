-- A small shop: 20,000 customers, 2,000 products, 120,000 orders with 240,000 items.
CREATE TABLE customers (
    id         serial PRIMARY KEY,
    email      text NOT NULL UNIQUE,
    name       text NOT NULL,
    phone      text,
    city       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE products (
    id          serial PRIMARY KEY,
    title       text NOT NULL,
    category    text NOT NULL,
    price_cents int NOT NULL CHECK (price_cents > 0)
);
CREATE TABLE stock (
    product_id int PRIMARY KEY REFERENCES products,
    quantity   int NOT NULL CHECK (quantity >= 0)
);
CREATE TABLE orders (
    id          bigserial PRIMARY KEY,
    customer_id int NOT NULL REFERENCES customers,
    status      text NOT NULL,
    total_cents int NOT NULL,
    ordered_at  timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE order_items (
    order_id    bigint NOT NULL REFERENCES orders,
    product_id  int NOT NULL REFERENCES products,
    quantity    int NOT NULL,
    price_cents int NOT NULL,
    PRIMARY KEY (order_id, product_id)
);

INSERT INTO customers (email, name, phone, city, created_at)
SELECT format('customer%s@example.com', n), format('Customer %s', n), format('+49 30 %s', 100000 + n),
       (ARRAY['Berlin', 'Hamburg', 'Köln', 'Leipzig'])[1 + n % 4],
       timestamptz '2024-01-01 00:00+00' + n * interval '1 minute'
FROM generate_series(1, 20000) AS n;

INSERT INTO products (title, category, price_cents)
SELECT format('Product %s', n), format('category-%s', n % 40), 100 + n * 37 % 9900
FROM generate_series(1, 2000) AS n;

INSERT INTO stock SELECT id, 1000000 FROM products;

INSERT INTO orders (customer_id, status, total_cents, ordered_at)
SELECT 1 + n * 7919 % 20000, CASE WHEN n % 50 = 0 THEN 'open' ELSE 'shipped' END, 500 + n * 13 % 20000,
       timestamptz '2024-02-01 00:00+00' + n * interval '1 minute'
FROM generate_series(1, 120000) AS n;

INSERT INTO order_items
SELECT o, 1 + (o * 31 + line * 997) % 2000, line, 100 + o % 900
FROM generate_series(1, 120000) AS o, generate_series(1, 2) AS line;

-- The index that the candidate will have lost.
CREATE INDEX orders_customer_idx ON orders (customer_id, ordered_at DESC);
CREATE INDEX products_category_idx ON products (category);
CREATE INDEX order_items_product_idx ON order_items (product_id);

VACUUM ANALYZE;
