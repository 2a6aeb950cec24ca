-- A customer looks at the own address.
\set customer random(1, 20000)
SELECT name, phone, city FROM customers WHERE id = :customer;
