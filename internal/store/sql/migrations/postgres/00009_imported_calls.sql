-- +goose Up

-- Calls of models that other tools made, as their files have them. They are in no sums of days, and never spending.
-- The call is a hash that tells it from all others: files copy each other, and are imported again.
CREATE TABLE imported_calls (
    conversation_id    TEXT COLLATE "C" NOT NULL,
    call               TEXT COLLATE "C" NOT NULL,
    project            TEXT COLLATE "C" NOT NULL,
    tool               TEXT COLLATE "C" NOT NULL,
    model              TEXT COLLATE "C" NOT NULL,
    at                 BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    cached_tokens      BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    reasoning_tokens   BIGINT NOT NULL,
    total_tokens       BIGINT NOT NULL,
    cost               DOUBLE PRECISION NOT NULL,
    currency           TEXT COLLATE "C" NOT NULL,
    estimated          BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, call)
);
CREATE INDEX imported_calls_call ON imported_calls (call);
CREATE INDEX imported_calls_at ON imported_calls (at);

-- The threads that clients named are found by their names alone, to see which of a tool's calls came through here.
CREATE INDEX thread_names_alone ON thread_names (name);

-- What was imported before is read once more, for the calls that it tells of: with this mark, the stamp of no session is
-- the one that is kept of it.
UPDATE origins SET stamp = '~' || stamp WHERE stamp <> '';
