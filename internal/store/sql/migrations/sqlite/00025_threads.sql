-- +goose Up

-- What tells which conversation a client's request goes on with (internal/threading). The hash of a scope is that of
-- a project and a caller. n grows with each row that is written, and has the time in it. Ids that are UUIDs are kept
-- as their 16 bytes where they are blobs.
CREATE TABLE threads (
    conversation_id TEXT NOT NULL PRIMARY KEY,
    rest            TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE thread_names (
    conversation_id TEXT    NOT NULL,
    scope           BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    n               INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, scope, name)
) WITHOUT ROWID;
CREATE INDEX thread_names_name ON thread_names (scope, name, n);

-- Of side calls whose thread is not known the conversation is empty; so are those of their summaries and answers.
CREATE TABLE thread_requests (
    conversation_id TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    n               INTEGER NOT NULL,
    scope           BLOB    NOT NULL,
    rolling         BLOB    NOT NULL,
    body            BLOB    NOT NULL,
    base_branch     BLOB    NOT NULL,
    base_seq        INTEGER NOT NULL,
    side            TEXT    NOT NULL,
    state           TEXT    NOT NULL,
    at              INTEGER NOT NULL,
    beside          INTEGER NOT NULL,
    leaf            INTEGER NOT NULL,
    rest            TEXT    NOT NULL,
    PRIMARY KEY (conversation_id, id)
);
CREATE INDEX thread_requests_id ON thread_requests (id);
CREATE INDEX thread_requests_rolling ON thread_requests (scope, rolling, n) WHERE side = '';
CREATE INDEX thread_requests_body ON thread_requests (scope, body, n);
CREATE INDEX thread_requests_base ON thread_requests (conversation_id, base_branch, base_seq, n) WHERE side = '';
CREATE INDEX thread_requests_beside ON thread_requests (conversation_id, n) WHERE beside = 1 AND leaf = 0;
CREATE INDEX thread_requests_running ON thread_requests (conversation_id) WHERE state = 'running' AND side = '';

-- The parent is the branch that an atom leaves, of the first one of a branch. The hashes are what it is found by.
CREATE TABLE thread_atoms (
    conversation_id TEXT    NOT NULL,
    branch          BLOB    NOT NULL,
    seq             INTEGER NOT NULL,
    parent          BLOB,
    n               INTEGER NOT NULL,
    scope           BLOB    NOT NULL,
    key_hash        BLOB,
    call_hash       BLOB,
    quote_hash      BLOB,
    partial         INTEGER NOT NULL,
    rest            BLOB    NOT NULL,
    PRIMARY KEY (branch, seq)
);
CREATE INDEX thread_atoms_parent ON thread_atoms (parent, seq, n) WHERE parent IS NOT NULL;
CREATE INDEX thread_atoms_leaving ON thread_atoms (branch) WHERE parent IS NOT NULL;
CREATE INDEX thread_atoms_partial ON thread_atoms (conversation_id, n) WHERE partial = 1;
CREATE INDEX thread_atoms_key ON thread_atoms (conversation_id, key_hash, n);
CREATE INDEX thread_atoms_call ON thread_atoms (conversation_id, call_hash, n) WHERE call_hash IS NOT NULL;
CREATE INDEX thread_atoms_quote ON thread_atoms (conversation_id, quote_hash, n) WHERE quote_hash IS NOT NULL;
CREATE INDEX thread_atoms_scope_key ON thread_atoms (scope, key_hash, n);
CREATE INDEX thread_atoms_scope_call ON thread_atoms (scope, call_hash, n) WHERE call_hash IS NOT NULL;
CREATE INDEX thread_atoms_scope_quote ON thread_atoms (scope, quote_hash, n) WHERE quote_hash IS NOT NULL;

CREATE TABLE thread_summaries (
    conversation_id TEXT    NOT NULL,
    request_id      TEXT    NOT NULL,
    n               INTEGER NOT NULL,
    scope           BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    rest            TEXT    NOT NULL,
    PRIMARY KEY (conversation_id, request_id)
);
CREATE INDEX thread_summaries_scope ON thread_summaries (scope, n);
CREATE INDEX thread_summaries_name ON thread_summaries (scope, name, n);

CREATE TABLE thread_answers (
    conversation_id TEXT    NOT NULL,
    scope           BLOB    NOT NULL,
    id              TEXT    NOT NULL,
    n               INTEGER NOT NULL,
    branch          BLOB    NOT NULL,
    seq             INTEGER NOT NULL,
    empty           INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, scope, id)
) WITHOUT ROWID;
CREATE INDEX thread_answers_id ON thread_answers (scope, id, n);

-- When bodies were asked, for minutes.
CREATE TABLE thread_asked (
    scope BLOB    NOT NULL,
    body  BLOB    NOT NULL,
    n     INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (scope, body, n)
) WITHOUT ROWID;
CREATE INDEX thread_asked_at ON thread_asked (at);
