-- +goose Up

-- A thread and its settings. branch is the current one, turn the newest turn.
CREATE TABLE conversations (
    id           TEXT PRIMARY KEY,
    project      TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    instructions TEXT    NOT NULL,
    policy       TEXT    NOT NULL,
    limit_tokens INTEGER NOT NULL,
    roots        TEXT    NOT NULL,
    settings     TEXT    NOT NULL,
    pinned_seqs  TEXT    NOT NULL,
    meta         TEXT    NOT NULL,
    parent       TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    branch       TEXT    NOT NULL,
    messages     INTEGER NOT NULL,
    turn         TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    deleted_at   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX conversations_newest ON conversations (updated_at, id);
CREATE INDEX conversations_project ON conversations (project) WHERE deleted_at = 0;
CREATE INDEX conversations_trash ON conversations (deleted_at) WHERE deleted_at <> 0;

-- One line of a conversation: seqs go on from the parent's at_seq. view is what
-- its window shows instead of the oldest messages.
CREATE TABLE branches (
    id              TEXT PRIMARY KEY,
    conversation_id TEXT    NOT NULL,
    parent_branch   TEXT    NOT NULL,
    at_seq          INTEGER NOT NULL,
    head_seq        INTEGER NOT NULL,
    sum_tokens      INTEGER NOT NULL,
    sum_bytes       INTEGER NOT NULL,
    sum_images      INTEGER NOT NULL,
    view            TEXT    NOT NULL,
    view_version    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX branches_conversation ON branches (conversation_id);

-- The log. Rows are inserted finished and never change.
CREATE TABLE messages (
    n               INTEGER PRIMARY KEY,
    id              TEXT    NOT NULL,
    conversation_id TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    seq             INTEGER NOT NULL,
    turn_id         TEXT    NOT NULL,
    role            TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    parts           TEXT    NOT NULL,
    model           TEXT    NOT NULL,
    usage           TEXT    NOT NULL,
    tokens          INTEGER NOT NULL,
    own_tokens      INTEGER NOT NULL,
    own_bytes       INTEGER NOT NULL,
    own_images      INTEGER NOT NULL,
    sum_tokens      INTEGER NOT NULL,
    sum_bytes       INTEGER NOT NULL,
    sum_images      INTEGER NOT NULL,
    status          TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    meta            TEXT    NOT NULL
);
CREATE UNIQUE INDEX messages_seq ON messages (branch, seq);
CREATE UNIQUE INDEX messages_id ON messages (id);

-- +goose StatementBegin
CREATE TRIGGER messages_append_only BEFORE UPDATE ON messages
BEGIN
    SELECT RAISE(ABORT, 'messages are append-only');
END;
-- +goose StatementEnd

-- What search finds messages by; rowid is messages.n. scope holds one term for
-- the conversation and one for the role. The terms come ready from the program.
CREATE VIRTUAL TABLE message_terms USING fts5(
    scope, terms,
    content = '', contentless_delete = 1, columnsize = 1, tokenize = 'ascii'
);

CREATE TABLE turns (
    id              TEXT PRIMARY KEY,
    conversation_id TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    seq             INTEGER NOT NULL,
    user_message    TEXT    NOT NULL,
    state           TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    lease_until     INTEGER NOT NULL,
    cancel          INTEGER NOT NULL,
    draft           TEXT    NOT NULL,
    open_calls      TEXT    NOT NULL,
    reply           TEXT    NOT NULL,
    finish_reason   TEXT    NOT NULL,
    failure         TEXT    NOT NULL,
    idem_key        TEXT    NOT NULL,
    idem_hash       TEXT    NOT NULL,
    window_mark     TEXT    NOT NULL,
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX turns_key ON turns (conversation_id, idem_key, started_at) WHERE idem_key <> '';

-- A folded run of messages, or with children a roll-up of such. Never edited.
CREATE TABLE segments (
    id              TEXT PRIMARY KEY,
    conversation_id TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    first_seq       INTEGER NOT NULL,
    last_seq        INTEGER NOT NULL,
    level           INTEGER NOT NULL,
    messages        INTEGER NOT NULL,
    children        TEXT    NOT NULL,
    hash            TEXT    NOT NULL,
    from_time       INTEGER NOT NULL,
    to_time         INTEGER NOT NULL,
    summary         TEXT    NOT NULL,
    summary_by      TEXT    NOT NULL,
    summary_of      INTEGER NOT NULL,
    prompt_version  INTEGER NOT NULL,
    placeholder     TEXT    NOT NULL,
    tokens_before   INTEGER NOT NULL,
    tokens_after    INTEGER NOT NULL,
    renderer        INTEGER NOT NULL,
    bytes           INTEGER NOT NULL,
    sha256          TEXT    NOT NULL,
    created_at      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX segments_newest ON segments (conversation_id, created_at, id);

-- One compaction, with the view it replaced, so that it can be undone.
CREATE TABLE receipts (
    n               INTEGER PRIMARY KEY,
    conversation_id TEXT    NOT NULL,
    branch          TEXT    NOT NULL,
    segments        INTEGER NOT NULL,
    receipt         TEXT    NOT NULL,
    view_before     TEXT    NOT NULL,
    undone_at       INTEGER NOT NULL,
    created_at      INTEGER NOT NULL
);
CREATE INDEX receipts_newest ON receipts (conversation_id, n);

-- Bytes beside messages; the bytes themselves are in the object store.
CREATE TABLE artifacts (
    id         TEXT PRIMARY KEY,
    media_type TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    size       INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Which conversation mentions which artifact: the right to resolve it.
CREATE TABLE mentions (
    conversation_id TEXT    NOT NULL,
    artifact        TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, artifact)
) WITHOUT ROWID;
CREATE INDEX mentions_newest ON mentions (conversation_id, created_at, artifact);
CREATE INDEX mentions_artifact ON mentions (artifact, created_at);

-- One row a model call.
CREATE TABLE usage_records (
    n                  INTEGER PRIMARY KEY,
    conversation_id    TEXT    NOT NULL,
    turn_id            TEXT    NOT NULL,
    model              TEXT    NOT NULL,
    purpose            TEXT    NOT NULL,
    request_id         TEXT    NOT NULL,
    at                 INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    cost               REAL    NOT NULL,
    currency           TEXT    NOT NULL,
    estimated          INTEGER NOT NULL
);
