-- Offers that nobody has paid for, many in one row and no index on what they are
-- called: to write one is to write at the end, where a row of its own in orders has
-- it change a page in each of that table's indexes. What they are called is in
-- memory. Once anything happens to an offer it has a row in orders, which counts for
-- more than what is here. Offers from before this step are in orders, and stay there.

CREATE TABLE sheets (
    sequence   INTEGER PRIMARY KEY NOT NULL,
    -- The earliest moments on the sheet.
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    offers     BLOB NOT NULL
) STRICT;

CREATE INDEX sheets_expiring ON sheets (expires_at);
