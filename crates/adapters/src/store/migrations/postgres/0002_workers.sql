-- The process that works on an order: its walk is under way, or it has claimed the order.

ALTER TABLE orders ADD COLUMN worker BYTEA;

-- Those that are examined at once when their process dies.
CREATE INDEX orders_worked_on ON orders (worker)
    WHERE worker IS NOT NULL AND state IN ('settling', 'unconfirmed', 'submitting');

-- A process is alive while its own connection stands and its heartbeat, by the server's
-- own clock, is recent.
CREATE TABLE processes (
    id           BYTEA PRIMARY KEY NOT NULL,
    backend      INTEGER NOT NULL,
    heartbeat_at TIMESTAMPTZ NOT NULL
);
