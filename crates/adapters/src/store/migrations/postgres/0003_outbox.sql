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
