-- +goose Up

-- What tells which conversation a client's request goes on with (internal/threading). The hash of a scope is that of
-- a project and a caller. n grows with each row that is written, and has the time in it. Ids that are UUIDs are kept
-- as their 16 bytes where they are blobs.
CREATE TABLE threads (
    conversation_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    rest            TEXT COLLATE "C" NOT NULL
);

CREATE TABLE thread_names (
    conversation_id TEXT COLLATE "C" NOT NULL,
    scope           BYTEA            NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    n               BIGINT           NOT NULL,
    PRIMARY KEY (conversation_id, scope, name)
);
CREATE INDEX thread_names_name ON thread_names (scope, name, n);

-- Of side calls whose thread is not known the conversation is empty; so are those of their summaries and answers.
CREATE TABLE thread_requests (
    conversation_id TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    n               BIGINT           NOT NULL,
    scope           BYTEA            NOT NULL,
    rolling         BYTEA            NOT NULL,
    body            BYTEA            NOT NULL,
    base_branch     BYTEA            NOT NULL,
    base_seq        BIGINT           NOT NULL,
    side            TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    at              BIGINT           NOT NULL,
    beside          BIGINT           NOT NULL,
    leaf            BIGINT           NOT NULL,
    rest            TEXT COLLATE "C" NOT NULL,
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
    conversation_id TEXT COLLATE "C" NOT NULL,
    branch          BYTEA            NOT NULL,
    seq             BIGINT           NOT NULL,
    parent          BYTEA,
    n               BIGINT           NOT NULL,
    scope           BYTEA            NOT NULL,
    key_hash        BYTEA,
    call_hash       BYTEA,
    quote_hash      BYTEA,
    partial         BIGINT           NOT NULL,
    rest            BYTEA            NOT NULL,
    PRIMARY KEY (conversation_id, branch, seq)
);
CREATE INDEX thread_atoms_place ON thread_atoms (branch, seq);
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
    conversation_id TEXT COLLATE "C" NOT NULL,
    request_id      TEXT COLLATE "C" NOT NULL,
    n               BIGINT           NOT NULL,
    scope           BYTEA            NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    rest            TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation_id, request_id)
);
CREATE INDEX thread_summaries_scope ON thread_summaries (scope, n);
CREATE INDEX thread_summaries_name ON thread_summaries (scope, name, n);

CREATE TABLE thread_answers (
    conversation_id TEXT COLLATE "C" NOT NULL,
    scope           BYTEA            NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    n               BIGINT           NOT NULL,
    branch          BYTEA            NOT NULL,
    seq             BIGINT           NOT NULL,
    empty           BIGINT           NOT NULL,
    PRIMARY KEY (conversation_id, scope, id)
);
CREATE INDEX thread_answers_id ON thread_answers (scope, id, n);

-- When bodies were asked, for minutes.
CREATE TABLE thread_asked (
    scope BYTEA  NOT NULL,
    body  BYTEA  NOT NULL,
    n     BIGINT NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (scope, body, n)
);
CREATE INDEX thread_asked_at ON thread_asked (at);
