-- Orders, the payments that paid for them, what happened to them, and the settler's outbox.
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
    -- Whether a payment was ever begun. Such an order is never deleted.
    begun               INTEGER NOT NULL DEFAULT 0,
    looks               INTEGER NOT NULL,
    -- The process that works on it, or has claimed it. One process has this file open at a
    -- time, so every worker from before is dead when it is opened.
    worker              BLOB,
    last_event          INTEGER,
    -- When an operator acknowledged that the order needs a person.
    acknowledged_at     INTEGER,
    -- From the first payment on. What is sealed is encrypted with the key file.
    sealed_card         BLOB,
    quote_cents         INTEGER,
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
    -- Where the card goes to: reports need it after the card's text is deleted.
    country             TEXT,
    -- While the provider is asked for the card.
    attempt             INTEGER,
    submitting_since    INTEGER,
    attempted_at        INTEGER,
    doubt               TEXT,
    -- Whom we asked: what became of the card is looked for there and nowhere else.
    provider_account    TEXT,
    -- Once it is in the post.
    mailpiece           TEXT,
    mailed_at           INTEGER,
    stage               TEXT,
    stage_at            INTEGER,
    -- Once the money went back.
    refund_transaction  TEXT,
    refund_atomic       INTEGER,
    refund_at           INTEGER
) STRICT;

CREATE INDEX orders_of_operation ON orders (operation_key, generation);
-- Few at any time; counted for the metrics.
CREATE INDEX orders_in_play ON orders (state, created_at) WHERE state IN (
    'settling', 'unconfirmed', 'submitting', 'unfulfilled_refused', 'unfulfilled_lost',
    'unfulfilled_undelivered', 'unfulfilled_erased'
);
-- The operator's list, the newest first.
CREATE INDEX orders_begun ON orders (created_at, id) WHERE begun = 1;
CREATE INDEX orders_due ON orders (due_at, planned_at) WHERE due_at IS NOT NULL;
CREATE INDEX orders_worked_on ON orders (worker) WHERE worker IS NOT NULL;
CREATE INDEX orders_expiring ON orders (expires_at)
    WHERE state = 'offered' AND origin = 'explicit';
CREATE INDEX orders_unpaid ON orders (created_at)
    WHERE state IN ('offered', 'lapsed') AND begun = 0;
CREATE INDEX orders_lapsed ON orders (updated_at)
    WHERE state = 'lapsed' AND begun = 0;

-- A payment key belongs to one order for ever.
CREATE TABLE payment_keys (
    key      BLOB PRIMARY KEY NOT NULL,
    order_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Events in the sequence in which they were written, each with its order's one before: to
-- append is to write at the end, where an index by order would have every event change a
-- page of its own.
CREATE TABLE events (
    sequence INTEGER PRIMARY KEY NOT NULL,
    previous INTEGER,
    order_id TEXT NOT NULL,
    version  INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    actor    TEXT NOT NULL,
    state    TEXT NOT NULL,
    evidence TEXT NOT NULL,
    -- What an operator did and why.
    note     TEXT NOT NULL
) STRICT;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN
    SELECT raise(ABORT, 'events are append-only');
END;

CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN
    SELECT raise(ABORT, 'events are append-only');
END;

-- The name of the identity key that this database was begun with, and `real` or `emulated` once it
-- was opened for payments on such chains.
CREATE TABLE keyring (
    identity TEXT PRIMARY KEY NOT NULL
) STRICT;

-- The settler's outbox: which transaction was signed for which nonce. A row is on disk
-- before its transaction is sent. `sealed` holds the call and the signed transactions, and
-- is emptied once the nonce is used in a block that stays.

CREATE TABLE outbox (
    network     TEXT NOT NULL,
    account     TEXT NOT NULL,
    nonce       INTEGER NOT NULL,
    -- Empty for a transaction that only uses up its nonce.
    payment_key BLOB,
    payer       TEXT,
    -- The hash of every transaction that was signed for this nonce, 32 bytes each.
    hashes      BLOB NOT NULL,
    sealed      BLOB,
    signed_at   INTEGER NOT NULL,
    reverted_at INTEGER,
    PRIMARY KEY (network, account, nonce)
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_open ON outbox (network, account, nonce) WHERE sealed IS NOT NULL;
CREATE INDEX outbox_of_payment ON outbox (payment_key) WHERE payment_key IS NOT NULL;
CREATE INDEX outbox_reverted ON outbox (network, account, reverted_at) WHERE reverted_at IS NOT NULL;
