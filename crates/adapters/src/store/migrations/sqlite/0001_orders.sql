-- Orders, the promises that paid for them, and what happened to them.
-- Times are seconds since 1970; USDC is in atomic units (six decimals).

CREATE TABLE orders (
    -- What every order has.
    id                  TEXT PRIMARY KEY NOT NULL,
    version             INTEGER NOT NULL,
    state               TEXT NOT NULL,
    operation_key       BLOB NOT NULL,
    generation          INTEGER NOT NULL,
    origin              TEXT NOT NULL,
    fingerprint         BLOB NOT NULL,
    seller              TEXT NOT NULL,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    expires_at          INTEGER NOT NULL,
    due_at              INTEGER,
    -- When due_at was written down: a plan made ahead of our time is due now.
    planned_at          INTEGER NOT NULL,
    looks               INTEGER NOT NULL,
    payees              BLOB,
    -- From the payer's promise on. What is sealed can be read with the key file only.
    sealed_card         BLOB,
    hold_cents          INTEGER,
    tender              TEXT,
    network             TEXT,
    payer               TEXT,
    pay_to              TEXT,
    authorized_atomic   INTEGER,
    deadline            INTEGER,
    payment_keys        BLOB,
    credential_digest   BLOB,
    sealed_credential   BLOB,
    sealed_preparation  BLOB,
    charge_atomic       INTEGER,
    -- Once money has moved.
    settled_transaction TEXT,
    settled_atomic      INTEGER,
    settled_at          INTEGER,
    finality            TEXT,
    receipt             BLOB,
    standing            TEXT,
    -- While the provider is asked for the card.
    attempt             INTEGER,
    submitting_since    INTEGER,
    doubt               TEXT,
    -- Once it is in the post.
    mailpiece           TEXT,
    mailed_at           INTEGER,
    stage               TEXT,
    stage_at            INTEGER,
    -- Once the money went back.
    refund_transaction  TEXT,
    refund_at           INTEGER
) STRICT;

CREATE INDEX orders_of_operation ON orders (operation_key, generation);
CREATE INDEX orders_due ON orders (due_at, planned_at) WHERE due_at IS NOT NULL;
CREATE INDEX orders_expiring ON orders (expires_at) WHERE state = 'offered';
CREATE INDEX orders_unpaid ON orders (created_at) WHERE state IN ('offered', 'lapsed');
CREATE INDEX orders_lapsed ON orders (updated_at) WHERE state = 'lapsed';

-- A promise belongs to one order for ever, even when that order's row is gone.
CREATE TABLE payment_keys (
    key      BLOB PRIMARY KEY NOT NULL,
    order_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The events of one order lie side by side and are numbered from 1.
CREATE TABLE events (
    order_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    version  INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    actor    TEXT NOT NULL,
    state    TEXT NOT NULL,
    evidence TEXT NOT NULL,
    PRIMARY KEY (order_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN
    SELECT raise(ABORT, 'events are append-only');
END;

CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN
    SELECT raise(ABORT, 'events are append-only');
END;

-- The name of the identity key that this database was begun with.
CREATE TABLE keyring (
    identity TEXT PRIMARY KEY NOT NULL
) STRICT;
