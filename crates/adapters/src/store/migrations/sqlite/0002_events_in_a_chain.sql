-- Events in the sequence in which they were written, each with its order's one
-- before, and the order knows its last: to append is to write at the end, where
-- an index by order would have every event change a page of its own.

ALTER TABLE orders ADD COLUMN last_event INTEGER;

CREATE TABLE chained_events (
    sequence INTEGER PRIMARY KEY NOT NULL,
    previous INTEGER,
    order_id TEXT NOT NULL,
    version  INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    actor    TEXT NOT NULL,
    state    TEXT NOT NULL,
    evidence TEXT NOT NULL
) STRICT;

WITH numbered AS (
    SELECT row_number() OVER (ORDER BY order_id, sequence) AS number, * FROM events
)
INSERT INTO chained_events
SELECT number, lag(number) OVER (PARTITION BY order_id ORDER BY number),
       order_id, version, at, actor, state, evidence
FROM numbered;

UPDATE orders SET last_event = newest.sequence
FROM (SELECT order_id, max(sequence) AS sequence FROM chained_events GROUP BY order_id) AS newest
WHERE newest.order_id = orders.id;

DROP TABLE events;
ALTER TABLE chained_events RENAME TO events;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN
    SELECT raise(ABORT, 'events are append-only');
END;

CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN
    SELECT raise(ABORT, 'events are append-only');
END;

-- The row of an order that nobody paid may go; its events stay within reach, and
-- go on from there should the order come back.
CREATE TABLE loose_chains (
    order_id   TEXT PRIMARY KEY NOT NULL,
    last_event INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_outlive_their_order AFTER DELETE ON orders
WHEN old.last_event IS NOT NULL
BEGIN
    INSERT OR REPLACE INTO loose_chains (order_id, last_event) VALUES (old.id, old.last_event);
END;
