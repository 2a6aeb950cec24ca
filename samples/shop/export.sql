-- The accounting department reads with a cursor, in portions.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
DECLARE open_orders NO SCROLL CURSOR FOR SELECT id, customer_id, total_cents FROM orders WHERE status = 'open' ORDER BY id;
FETCH FORWARD 500 FROM open_orders;
FETCH FORWARD 500 FROM open_orders;
FETCH FORWARD 500 FROM open_orders;
CLOSE open_orders;
COMMIT;
