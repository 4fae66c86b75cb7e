-- +goose Up

-- Calls of models that other tools made, as their files have them. They are in no sums of days, and never spending.
-- The call is a hash that tells it from all others: files copy each other, and are imported again.
CREATE TABLE imported_calls (
    conversation_id    TEXT NOT NULL,
    call               TEXT NOT NULL,
    project            TEXT NOT NULL,
    tool               TEXT NOT NULL,
    model              TEXT NOT NULL,
    at                 INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    total_tokens       INTEGER NOT NULL,
    cost               REAL NOT NULL,
    currency           TEXT NOT NULL,
    estimated          INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, call)
) WITHOUT ROWID;
CREATE INDEX imported_calls_call ON imported_calls (call);
CREATE INDEX imported_calls_at ON imported_calls (at);

-- The threads that clients named are found by their names alone, to see which of a tool's calls came through here.
CREATE INDEX thread_names_alone ON thread_names (name);

-- What was imported before is read once more, for the calls that it tells of: with this mark, the stamp of no session is
-- the one that is kept of it.
UPDATE origins SET stamp = '~' || stamp WHERE stamp <> '';
