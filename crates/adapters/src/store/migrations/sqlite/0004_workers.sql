-- The process that works on an order: its walk is under way, or it has claimed the order.
-- One process has this file open at a time, so every worker from before is dead when it is
-- opened, and the orders it left are looked up by this index.

ALTER TABLE orders ADD COLUMN worker BLOB;

CREATE INDEX orders_worked_on ON orders (worker) WHERE worker IS NOT NULL;
