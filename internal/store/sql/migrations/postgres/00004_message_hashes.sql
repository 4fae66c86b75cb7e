-- +goose Up

-- What a message's row hashes to, made when it is inserted: whatever changes a bit of it later
-- is noticed. It stands in the row itself, so that a turn makes no statement more for it. Rows
-- that were there before have none and, because rows of messages never change, never get one.
-- A column with a constant default is an entry in the catalogue: no row is written.
ALTER TABLE messages ADD COLUMN hash BYTEA NOT NULL DEFAULT '';

-- The hashes of those rows, of a run of a branch's messages each: 16 bytes a message, in order.
CREATE TABLE message_hashes (
    conversation_id TEXT   COLLATE "C" NOT NULL,
    branch          TEXT   COLLATE "C" NOT NULL,
    first_seq       BIGINT NOT NULL,
    last_seq        BIGINT NOT NULL,
    hashes          BYTEA  NOT NULL,
    PRIMARY KEY (conversation_id, branch, first_seq)
);

-- How far they are made: up to a message of a branch of a conversation, in the order of ids.
CREATE TABLE message_hashing (
    id              BIGINT PRIMARY KEY,
    conversation_id TEXT   COLLATE "C" NOT NULL,
    branch          TEXT   COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    ended           BIGINT NOT NULL
);
INSERT INTO message_hashing VALUES (1, '', '', 0, 0);
