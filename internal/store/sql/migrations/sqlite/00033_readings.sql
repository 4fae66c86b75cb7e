-- +goose Up

-- Of messages that came from another store and found their place on their branch taken: the branch that they were written
-- to. They stand on a branch of their own here, from from_seq on. Nothing is moved for them.
CREATE TABLE readings (
    conversation_id TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    from_seq        INTEGER NOT NULL,
    born            TEXT    NOT NULL,
    PRIMARY KEY (conversation_id, branch, from_seq)
) WITHOUT ROWID;
