-- Orders, the promises that paid for them, and what happened to them.
-- Times are seconds since 1970; USDC is in atomic units (six decimals).

CREATE TABLE orders (
    -- What every order has.
    id                  TEXT PRIMARY KEY NOT NULL,
    version             BIGINT NOT NULL,
    state               TEXT NOT NULL,
    operation_key       BYTEA NOT NULL,
    generation          BIGINT NOT NULL,
    origin              TEXT NOT NULL,
    fingerprint         BYTEA NOT NULL,
    seller              TEXT NOT NULL,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL,
    expires_at          BIGINT NOT NULL,
    due_at              BIGINT,
    -- When due_at was written down: a plan made ahead of our time is due now.
    planned_at          BIGINT NOT NULL,
    looks               BIGINT NOT NULL,
    payees              BYTEA,
    -- From the payer's promise on. What is sealed can be read with the key file only.
    sealed_card         BYTEA,
    hold_cents          BIGINT,
    tender              TEXT,
    network             TEXT,
    payer               TEXT,
    pay_to              TEXT,
    authorized_atomic   BIGINT,
    deadline            BIGINT,
    payment_keys        BYTEA,
    credential_digest   BYTEA,
    sealed_credential   BYTEA,
    sealed_preparation  BYTEA,
    charge_atomic       BIGINT,
    -- Once money has moved.
    settled_transaction TEXT,
    settled_atomic      BIGINT,
    settled_at          BIGINT,
    finality            TEXT,
    receipt             BYTEA,
    standing            TEXT,
    -- While the provider is asked for the card.
    attempt             BIGINT,
    submitting_since    BIGINT,
    doubt               TEXT,
    -- Once it is in the post.
    mailpiece           TEXT,
    mailed_at           BIGINT,
    stage               TEXT,
    stage_at            BIGINT,
    -- Once the money went back.
    refund_transaction  TEXT,
    refund_at           BIGINT
);

CREATE INDEX orders_of_operation ON orders (operation_key, generation);
CREATE INDEX orders_due ON orders (due_at, planned_at) WHERE due_at IS NOT NULL;
-- Of one operation, no two orders may be in play.
CREATE UNIQUE INDEX orders_in_play ON orders (operation_key) WHERE state IN (
    'settling', 'unconfirmed', 'submitting',
    'unfulfilled_refused', 'unfulfilled_lost', 'unfulfilled_undelivered'
);
CREATE INDEX orders_expiring ON orders (expires_at) WHERE state = 'offered';
CREATE INDEX orders_unpaid ON orders (created_at) WHERE state IN ('offered', 'lapsed');
CREATE INDEX orders_lapsed ON orders (updated_at) WHERE state = 'lapsed';

-- A promise belongs to one order for ever, even when that order's row is gone.
CREATE TABLE payment_keys (
    key      BYTEA PRIMARY KEY NOT NULL,
    order_id TEXT NOT NULL
);

CREATE TABLE events (
    sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id TEXT NOT NULL,
    version  BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    actor    TEXT NOT NULL,
    state    TEXT NOT NULL,
    evidence TEXT NOT NULL
);

CREATE INDEX events_of_order ON events (order_id, sequence);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are append-only';
END
$$;

CREATE TRIGGER events_are_kept BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER events_are_not_emptied BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The name of the identity key that this database was begun with.
CREATE TABLE keyring (
    identity TEXT PRIMARY KEY NOT NULL
);
