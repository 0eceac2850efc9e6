-- Orders, the payments that paid for them, what happened to them, the settler's outbox, and
-- what processes share.
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
    -- Whether a payment was ever begun. Such an order is never deleted.
    begun               BOOLEAN NOT NULL DEFAULT false,
    looks               BIGINT NOT NULL,
    -- The process that works on it, or has claimed it.
    worker              BYTEA,
    -- When an operator acknowledged that the order needs a person.
    acknowledged_at     BIGINT,
    -- From the first payment on. What is sealed is encrypted with the key file.
    sealed_card         BYTEA,
    quote_cents         BIGINT,
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
    -- Where the card goes to: reports need it after the card's text is deleted.
    country             TEXT,
    -- While the provider is asked for the card.
    attempt             BIGINT,
    submitting_since    BIGINT,
    attempted_at        BIGINT,
    doubt               TEXT,
    -- Whom we asked: what became of the card is looked for there and nowhere else.
    provider_account    TEXT,
    -- Once it is in the post.
    mailpiece           TEXT,
    mailed_at           BIGINT,
    stage               TEXT,
    stage_at            BIGINT,
    -- Once the money went back.
    refund_transaction  TEXT,
    refund_atomic       BIGINT,
    refund_at           BIGINT
);

CREATE INDEX orders_of_operation ON orders (operation_key, generation);
-- The operator's list, the newest first.
CREATE INDEX orders_begun ON orders (created_at, id) WHERE begun;
CREATE INDEX orders_due ON orders (due_at, planned_at) WHERE due_at IS NOT NULL;
-- Of one operation, no two orders may be in play.
CREATE UNIQUE INDEX orders_in_play ON orders (operation_key) WHERE state IN (
    'settling', 'unconfirmed', 'submitting',
    'unfulfilled_refused', 'unfulfilled_lost', 'unfulfilled_undelivered',
    'unfulfilled_erased'
);
-- Those that are examined at once when their process dies.
CREATE INDEX orders_worked_on ON orders (worker)
    WHERE worker IS NOT NULL AND state IN ('settling', 'unconfirmed', 'submitting');
CREATE INDEX orders_expiring ON orders (expires_at)
    WHERE state = 'offered' AND origin = 'explicit';
CREATE INDEX orders_unpaid ON orders (created_at)
    WHERE state IN ('offered', 'lapsed') AND NOT begun;
CREATE INDEX orders_lapsed ON orders (updated_at) WHERE state = 'lapsed' AND NOT begun;

-- A payment key belongs to one order for ever.
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
    evidence TEXT NOT NULL,
    -- What an operator did and why.
    note     TEXT NOT NULL
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

-- The name of the identity key that this database was begun with, and `real` or `emulated` once it
-- was opened for payments on such chains.
CREATE TABLE keyring (
    identity TEXT PRIMARY KEY NOT NULL
);

-- A process is alive while its own connection stands and its heartbeat, by the server's
-- own clock, is recent.
CREATE TABLE processes (
    id           BYTEA PRIMARY KEY NOT NULL,
    backend      INTEGER NOT NULL,
    heartbeat_at TIMESTAMPTZ NOT NULL
);

-- The settler's outbox: which transaction was signed for which nonce. A row is on disk
-- before its transaction is sent. `sealed` holds the call and the signed transactions, and
-- is emptied once the nonce is used in a block that stays.

CREATE TABLE outbox (
    network     TEXT NOT NULL,
    account     TEXT NOT NULL,
    nonce       BIGINT NOT NULL,
    -- Empty for a transaction that only uses up its nonce.
    payment_key BYTEA,
    payer       TEXT,
    -- The hash of every transaction that was signed for this nonce, 32 bytes each.
    hashes      BYTEA NOT NULL,
    sealed      BYTEA,
    signed_at   BIGINT NOT NULL,
    reverted_at BIGINT,
    PRIMARY KEY (network, account, nonce)
);

CREATE INDEX outbox_open ON outbox (network, account, nonce) WHERE sealed IS NOT NULL;
CREATE INDEX outbox_of_payment ON outbox (payment_key) WHERE payment_key IS NOT NULL;
CREATE INDEX outbox_reverted ON outbox (network, account, reverted_at) WHERE reverted_at IS NOT NULL;

-- Settlements on their way to the process that sends. They have no nonce, so they were
-- certainly not sent.
CREATE TABLE settlement_queue (
    sequence    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_key BYTEA NOT NULL UNIQUE,
    network     TEXT NOT NULL,
    account     TEXT NOT NULL,
    sealed      BYTEA NOT NULL
);

-- Which process sends for an account. An outbox write names the epoch, so a process that
-- has lost its lease cannot write.
CREATE TABLE senders (
    network      TEXT NOT NULL,
    account      TEXT NOT NULL,
    epoch        BIGINT NOT NULL,
    backend      INTEGER NOT NULL,
    heartbeat_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (network, account)
);

-- The calls to each provider's account that still count, shared by all processes.
-- The ledger is provider/budget/ledger.rs as JSON; its times are this database's,
-- in seconds since 1970. A row may be deleted while no process calls that account.

CREATE TABLE provider_budget (
    account TEXT PRIMARY KEY NOT NULL,
    ledger  JSONB NOT NULL
)
-- The same few rows are rewritten all the time; room beside them keeps that in place.
WITH (fillfactor = 10);
