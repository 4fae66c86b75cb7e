-- +goose Up

-- Of what messages refer to, such as files: the newest version in each conversation, and the
-- message that has its content.
CREATE TABLE message_sources (
    conversation_id TEXT    NOT NULL,
    source          TEXT    NOT NULL,
    version         INTEGER NOT NULL,
    sha256          TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    seq             INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, source)
) WITHOUT ROWID;
