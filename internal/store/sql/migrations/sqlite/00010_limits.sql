-- +goose Up

-- Whose call it was: the id of a key, or empty for whoever runs the program.
ALTER TABLE usage_records ADD COLUMN key_id TEXT NOT NULL DEFAULT '';

-- What a key has used since a time is read from here alone; the calls of whoever runs
-- the program are not in it.
CREATE INDEX usage_records_key ON usage_records (key_id, at, currency, total_tokens, cost) WHERE key_id <> '';

-- How much each actor has begun in its present window of time.
CREATE TABLE tallies (
    actor TEXT    PRIMARY KEY,
    start INTEGER NOT NULL,
    until INTEGER NOT NULL,
    count INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX tallies_until ON tallies (until);

-- What a key may do, where it is not what the configuration says, as JSON.
CREATE TABLE key_limits (
    key_id TEXT PRIMARY KEY,
    limits TEXT NOT NULL
) WITHOUT ROWID;
