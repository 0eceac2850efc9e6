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
