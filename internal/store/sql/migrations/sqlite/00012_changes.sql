-- +goose Up

-- What was done to conversations, one row a transaction; the newest are kept. kinds is a
-- sum of bits. Nothing here was said by anybody.
CREATE TABLE changes (
    n               INTEGER PRIMARY KEY,
    conversation_id TEXT    NOT NULL,
    project         TEXT    NOT NULL,
    moved_from      TEXT    NOT NULL,
    kinds           INTEGER NOT NULL,
    turn_id         TEXT    NOT NULL,
    state           TEXT    NOT NULL,
    first_seq       INTEGER NOT NULL,
    last_seq        INTEGER NOT NULL,
    ref             TEXT    NOT NULL
);
