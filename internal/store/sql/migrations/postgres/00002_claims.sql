-- +goose Up

-- Which server does a piece of work of a conversation, or of the whole database where the id
-- is empty, and until when others leave it alone.
CREATE TABLE claims (
    conversation_id TEXT   COLLATE "C" NOT NULL,
    work            TEXT   COLLATE "C" NOT NULL,
    owner           TEXT   COLLATE "C" NOT NULL,
    until           BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, work)
);
CREATE INDEX claims_until ON claims (until);
