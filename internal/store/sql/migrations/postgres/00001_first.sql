-- What SQLite's migrations up to 00019 make, for many servers. Three things differ.
--
-- Keys of what belongs to a conversation begin with its id, so that its rows lie together and
-- tables can be distributed by it; what is looked up by another id alone has an index that is
-- not unique, because ids are.
--
-- Messages and changes have no number of their own: transactions commit in another order than
-- they begin, and whoever follows the numbers would miss the late ones. They leave a row in
-- pending_messages and pending_changes, and one server at a time gives the numbers.
--
-- Sums that every turn adds to are kept in lanes, which are added up where they are read.
--
-- Texts are compared byte by byte, as SQLite and Go do.

-- +goose Up
CREATE TABLE conversations (
    id           TEXT COLLATE "C" PRIMARY KEY,
    project      TEXT COLLATE "C" NOT NULL,
    title        TEXT COLLATE "C" NOT NULL,
    model        TEXT COLLATE "C" NOT NULL,
    instructions TEXT COLLATE "C" NOT NULL,
    policy       TEXT COLLATE "C" NOT NULL,
    limit_tokens BIGINT NOT NULL,
    roots        TEXT COLLATE "C" NOT NULL,
    settings     TEXT COLLATE "C" NOT NULL,
    pinned_seqs  TEXT COLLATE "C" NOT NULL,
    meta         TEXT COLLATE "C" NOT NULL,
    parent       TEXT COLLATE "C" NOT NULL,
    version      BIGINT NOT NULL,
    branch       TEXT COLLATE "C" NOT NULL,
    messages     BIGINT NOT NULL,
    turn         TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    deleted_at   BIGINT NOT NULL,
    ancestors    TEXT COLLATE "C" NOT NULL DEFAULT '',
    environment  TEXT COLLATE "C" NOT NULL DEFAULT '',
    purged_at    BIGINT NOT NULL DEFAULT 0,
    title_by     TEXT COLLATE "C" NOT NULL DEFAULT '',
    agent_of     TEXT COLLATE "C" NOT NULL DEFAULT '',
    agent_turn   TEXT COLLATE "C" NOT NULL DEFAULT '',
    agent_call   TEXT COLLATE "C" NOT NULL DEFAULT ''
) WITH (fillfactor = 80);
CREATE INDEX conversations_newest ON conversations (updated_at, id) WHERE deleted_at = 0 AND agent_of = '';
CREATE INDEX conversations_project ON conversations (project, updated_at, id) WHERE deleted_at = 0 AND agent_of = '';
CREATE INDEX conversations_agents ON conversations (agent_of, updated_at, id) WHERE agent_of <> '';
CREATE INDEX conversations_trash ON conversations (deleted_at) WHERE deleted_at <> 0;
CREATE INDEX conversations_trash_newest ON conversations (updated_at, id) WHERE deleted_at <> 0 AND purged_at = 0;
CREATE INDEX conversations_trash_project ON conversations (project, updated_at, id) WHERE deleted_at <> 0 AND purged_at = 0;
CREATE INDEX conversations_roots ON conversations (id) WHERE roots <> '[]' AND roots <> '';

CREATE TABLE branches (
    conversation_id TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    n               BIGINT NOT NULL,
    parent_branch   TEXT COLLATE "C" NOT NULL,
    at_seq          BIGINT NOT NULL,
    head_seq        BIGINT NOT NULL,
    sum_tokens      BIGINT NOT NULL,
    sum_bytes       BIGINT NOT NULL,
    sum_images      BIGINT NOT NULL,
    view            TEXT COLLATE "C" NOT NULL,
    view_version    BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, id)
) WITH (fillfactor = 80);
CREATE INDEX branches_id ON branches (id);
CREATE INDEX branches_n ON branches (n);
CREATE INDEX branches_parent ON branches (parent_branch, at_seq) WHERE parent_branch <> '';

CREATE TABLE messages (
    conversation_id TEXT COLLATE "C" NOT NULL,
    branch          TEXT COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    turn_id         TEXT COLLATE "C" NOT NULL,
    role            TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    parts           TEXT COLLATE "C" NOT NULL,
    model           TEXT COLLATE "C" NOT NULL,
    usage           TEXT COLLATE "C" NOT NULL,
    tokens          BIGINT NOT NULL,
    own_tokens      BIGINT NOT NULL,
    own_bytes       BIGINT NOT NULL,
    own_images      BIGINT NOT NULL,
    sum_tokens      BIGINT NOT NULL,
    sum_bytes       BIGINT NOT NULL,
    sum_images      BIGINT NOT NULL,
    status          TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    meta            TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation_id, branch, seq)
);
CREATE INDEX messages_seq ON messages (branch, seq);
CREATE INDEX messages_id ON messages (id);

-- A guard, for whoever writes SQL by hand: nothing of the program depends on it, and an engine
-- without triggers can do without.
-- +goose StatementBegin
CREATE FUNCTION messages_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'messages are append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER messages_append_only BEFORE UPDATE ON messages
    FOR EACH ROW EXECUTE FUNCTION messages_append_only();

-- Messages that have no number yet, and in which order they came: k is in microseconds.
CREATE TABLE pending_messages (
    conversation_id TEXT COLLATE "C" NOT NULL,
    branch          TEXT COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    k               BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, branch, seq)
);

-- The numbers of runs of messages: of the one at first_seq it is first_n, and so on.
CREATE TABLE message_runs (
    conversation_id TEXT COLLATE "C" NOT NULL,
    branch          TEXT COLLATE "C" NOT NULL,
    first_seq       BIGINT NOT NULL,
    last_seq        BIGINT NOT NULL,
    first_n         BIGINT NOT NULL,
    last_n          BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, branch, first_seq, first_n)
);
CREATE INDEX message_runs_n ON message_runs (last_n);
CREATE INDEX message_runs_branch ON message_runs (branch, last_seq);

CREATE TABLE turns (
    conversation_id TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    branch          TEXT COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    user_message    TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    owner           TEXT COLLATE "C" NOT NULL,
    lease_until     BIGINT NOT NULL,
    cancel          BIGINT NOT NULL,
    draft           TEXT COLLATE "C" NOT NULL,
    open_calls      TEXT COLLATE "C" NOT NULL,
    reply           TEXT COLLATE "C" NOT NULL,
    finish_reason   TEXT COLLATE "C" NOT NULL,
    failure         TEXT COLLATE "C" NOT NULL,
    idem_key        TEXT COLLATE "C" NOT NULL,
    idem_hash       TEXT COLLATE "C" NOT NULL,
    window_mark     TEXT COLLATE "C" NOT NULL,
    started_at      BIGINT NOT NULL,
    ended_at        BIGINT NOT NULL,
    last_seq        BIGINT NOT NULL,
    meta            TEXT COLLATE "C" NOT NULL,
    sent            TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (conversation_id, id)
) WITH (fillfactor = 70);
CREATE INDEX turns_id ON turns (id);
CREATE INDEX turns_key ON turns (conversation_id, idem_key, started_at);
CREATE INDEX turns_troubled ON turns (branch, last_seq, id)
    WHERE state IN ('failed', 'over_budget', 'interrupted') OR finish_reason IN ('max_steps', 'length');

CREATE TABLE segments (
    conversation_id TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    branch          TEXT COLLATE "C" NOT NULL,
    first_seq       BIGINT NOT NULL,
    last_seq        BIGINT NOT NULL,
    level           BIGINT NOT NULL,
    messages        BIGINT NOT NULL,
    children        TEXT COLLATE "C" NOT NULL,
    hash            TEXT COLLATE "C" NOT NULL,
    from_time       BIGINT NOT NULL,
    to_time         BIGINT NOT NULL,
    summary         TEXT COLLATE "C" NOT NULL,
    summary_by      TEXT COLLATE "C" NOT NULL,
    summary_of      BIGINT NOT NULL,
    prompt_version  BIGINT NOT NULL,
    placeholder     TEXT COLLATE "C" NOT NULL,
    tokens_before   BIGINT NOT NULL,
    tokens_after    BIGINT NOT NULL,
    renderer        BIGINT NOT NULL,
    bytes           BIGINT NOT NULL,
    sha256          TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, id)
);
CREATE INDEX segments_id ON segments (id);
CREATE INDEX segments_newest ON segments (conversation_id, created_at, id);

-- n is at least the time in microseconds, times 4096.
CREATE TABLE receipts (
    conversation_id TEXT COLLATE "C" NOT NULL,
    n               BIGINT NOT NULL,
    branch          TEXT COLLATE "C" NOT NULL,
    segments        BIGINT NOT NULL,
    receipt         TEXT COLLATE "C" NOT NULL,
    view_before     TEXT COLLATE "C" NOT NULL,
    undone_at       BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    view_after      TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (conversation_id, n)
);
CREATE INDEX receipts_n ON receipts (n);
CREATE INDEX receipts_branch ON receipts (conversation_id, branch, n);

CREATE TABLE artifacts (
    id         TEXT COLLATE "C" PRIMARY KEY,
    media_type TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    size       BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE mentions (
    conversation_id TEXT COLLATE "C" NOT NULL,
    artifact        TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, artifact)
);
CREATE INDEX mentions_newest ON mentions (conversation_id, created_at, artifact);
CREATE INDEX mentions_artifact ON mentions (artifact, created_at);

-- n is as in receipts.
CREATE TABLE usage_records (
    conversation_id    TEXT COLLATE "C" NOT NULL,
    n                  BIGINT NOT NULL,
    turn_id            TEXT COLLATE "C" NOT NULL,
    model              TEXT COLLATE "C" NOT NULL,
    purpose            TEXT COLLATE "C" NOT NULL,
    request_id         TEXT COLLATE "C" NOT NULL,
    at                 BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    cached_tokens      BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    reasoning_tokens   BIGINT NOT NULL,
    cost               DOUBLE PRECISION NOT NULL,
    currency           TEXT COLLATE "C" NOT NULL,
    estimated          BIGINT NOT NULL,
    project            TEXT COLLATE "C",
    total_tokens       BIGINT,
    key_id             TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (conversation_id, n)
);
CREATE INDEX usage_records_n ON usage_records (n);
CREATE INDEX usage_records_at ON usage_records (at);
CREATE INDEX usage_records_key ON usage_records (key_id, at, currency, total_tokens, cost) WHERE key_id <> '';

CREATE TABLE usage_days (
    day                BIGINT NOT NULL,
    model              TEXT COLLATE "C" NOT NULL,
    project            TEXT COLLATE "C" NOT NULL,
    currency           TEXT COLLATE "C" NOT NULL,
    lane               BIGINT NOT NULL,
    calls              BIGINT NOT NULL,
    estimated_calls    BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    cached_tokens      BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    reasoning_tokens   BIGINT NOT NULL,
    total_tokens       BIGINT NOT NULL,
    cost               DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (day, model, project, currency, lane)
) WITH (fillfactor = 50);

CREATE TABLE models_learned (
    model  TEXT COLLATE "C" PRIMARY KEY,
    factor DOUBLE PRECISION NOT NULL,
    facts  TEXT COLLATE "C" NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE keys (
    id           TEXT COLLATE "C" PRIMARY KEY,
    hash         BYTEA NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    role         BIGINT NOT NULL,
    projects     TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL DEFAULT 0,
    revoked_at   BIGINT NOT NULL DEFAULT 0,
    last_used_at BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX keys_hash ON keys (hash);
CREATE INDEX keys_age ON keys (created_at, id);

CREATE TABLE sign_ins (
    hash       BYTEA PRIMARY KEY,
    key_id     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sign_ins_key ON sign_ins (key_id, created_at);
CREATE INDEX sign_ins_ended ON sign_ins (expires_at);

CREATE TABLE tallies (
    actor TEXT COLLATE "C" PRIMARY KEY,
    start BIGINT NOT NULL,
    until BIGINT NOT NULL,
    count BIGINT NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX tallies_until ON tallies (until);

CREATE TABLE key_limits (
    key_id TEXT COLLATE "C" PRIMARY KEY,
    limits TEXT COLLATE "C" NOT NULL
);

CREATE TABLE projects (
    name         TEXT COLLATE "C" PRIMARY KEY,
    title        TEXT COLLATE "C" NOT NULL,
    version      BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    model        TEXT COLLATE "C" NOT NULL,
    policy       TEXT COLLATE "C" NOT NULL,
    limit_tokens BIGINT NOT NULL,
    settings     TEXT COLLATE "C" NOT NULL,
    budget       TEXT COLLATE "C" NOT NULL,
    instructions TEXT COLLATE "C" NOT NULL
);

CREATE TABLE changes (
    conversation_id TEXT COLLATE "C" NOT NULL,
    n               BIGINT NOT NULL,
    project         TEXT COLLATE "C" NOT NULL,
    moved_from      TEXT COLLATE "C" NOT NULL,
    kinds           BIGINT NOT NULL,
    turn_id         TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    first_seq       BIGINT NOT NULL,
    last_seq        BIGINT NOT NULL,
    ref             TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation_id, n)
);
CREATE INDEX changes_n ON changes (n);

-- Changes that have no number yet; k is as in pending_messages, and ascends in a conversation.
CREATE TABLE pending_changes (
    conversation_id TEXT COLLATE "C" NOT NULL,
    k               BIGINT NOT NULL,
    project         TEXT COLLATE "C" NOT NULL,
    moved_from      TEXT COLLATE "C" NOT NULL,
    kinds           BIGINT NOT NULL,
    turn_id         TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    first_seq       BIGINT NOT NULL,
    last_seq        BIGINT NOT NULL,
    ref             TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation_id, k)
);

CREATE TABLE message_sources (
    conversation_id TEXT COLLATE "C" NOT NULL,
    source          TEXT COLLATE "C" NOT NULL,
    version         BIGINT NOT NULL,
    sha256          TEXT COLLATE "C" NOT NULL,
    branch          TEXT COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, source)
);

CREATE TABLE turn_steps (
    conversation_id TEXT COLLATE "C" NOT NULL,
    turn_id         TEXT COLLATE "C" NOT NULL,
    step            BIGINT NOT NULL,
    sent            TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation_id, turn_id, step)
);
CREATE INDEX turn_steps_turn ON turn_steps (turn_id, step);

CREATE TABLE sent_texts (
    sha256 TEXT COLLATE "C" PRIMARY KEY,
    text   TEXT COLLATE "C" NOT NULL
);
CREATE TABLE sent_text_uses (
    conversation_id TEXT COLLATE "C" NOT NULL,
    sha256          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation_id, sha256)
);
CREATE INDEX sent_text_uses_text ON sent_text_uses (sha256);

CREATE TABLE numbers (
    name TEXT COLLATE "C" PRIMARY KEY,
    last BIGINT NOT NULL
) WITH (fillfactor = 50);
INSERT INTO numbers (name, last) VALUES ('branch', 0), ('message', 0), ('change', 0), ('probe', 0);

CREATE TABLE index_state (
    id        BIGINT PRIMARY KEY,
    cut       BIGINT NOT NULL,
    watermark BIGINT NOT NULL,
    segment   BIGINT NOT NULL,
    dropped   BIGINT NOT NULL,
    forgotten BIGINT NOT NULL
);
INSERT INTO index_state VALUES (1, 0, 0, 0, 0, 0);

CREATE TABLE index_segments (
    id           BIGINT PRIMARY KEY,
    state        BIGINT NOT NULL,
    tier         BIGINT NOT NULL,
    documents    BIGINT NOT NULL,
    terms        BIGINT NOT NULL,
    clean        BIGINT NOT NULL,
    into_segment BIGINT NOT NULL,
    until        BIGINT NOT NULL,
    places       BYTEA NOT NULL
);
CREATE INDEX index_segments_state ON index_segments (state);

CREATE TABLE index_blocks (
    segment    BIGINT NOT NULL,
    first_term TEXT COLLATE "C" NOT NULL,
    start      BIGINT NOT NULL,
    data       BYTEA NOT NULL,
    PRIMARY KEY (segment, first_term, start)
);
ALTER TABLE index_blocks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE index_marks (
    segment   BIGINT NOT NULL,
    start     BIGINT NOT NULL,
    from_time BIGINT NOT NULL,
    to_time   BIGINT NOT NULL,
    data      BYTEA NOT NULL,
    PRIMARY KEY (segment, start)
);

CREATE TABLE index_dropped (
    branch    BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    n         BIGINT NOT NULL,
    PRIMARY KEY (branch, first_seq)
);
CREATE INDEX index_dropped_n ON index_dropped (n);

CREATE TABLE origins (
    conversation_id TEXT COLLATE "C" NOT NULL,
    tool            TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    root            TEXT COLLATE "C" NOT NULL,
    folder          TEXT COLLATE "C" NOT NULL,
    git_branch      TEXT COLLATE "C" NOT NULL,
    place           TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    stamp           TEXT COLLATE "C" NOT NULL,
    shared          BIGINT NOT NULL,
    imported_at     BIGINT NOT NULL,
    gone_at         BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, tool, id)
);
CREATE INDEX origins_id ON origins (tool, id, conversation_id);
CREATE INDEX origins_root ON origins (tool, root, id, conversation_id);
CREATE INDEX origins_place ON origins (place, name, tool, id, conversation_id);
CREATE INDEX origins_folder ON origins (folder);

CREATE TABLE purged_origins (
    origin  TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (origin, project)
);
