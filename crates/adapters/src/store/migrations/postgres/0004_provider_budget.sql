-- The calls to each provider's account that still count, shared by all processes.
-- The ledger is provider/budget/ledger.rs as JSON; its times are this database's,
-- in seconds since 1970. A row may be deleted while no process calls that account.

CREATE TABLE provider_budget (
    account TEXT PRIMARY KEY NOT NULL,
    ledger  JSONB NOT NULL
)
-- The same few rows are rewritten all the time; room beside them keeps that in place.
WITH (fillfactor = 10);
