-- +goose Up

-- Where imported conversations come from. What a tool calls a conversation is the same in
-- the projects of different people, and of copies that share all messages: no key but that
-- with our own id is unique.
CREATE TABLE origins (
    conversation_id TEXT    NOT NULL,
    tool            TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    root            TEXT    NOT NULL,
    folder          TEXT    NOT NULL,
    git_branch      TEXT    NOT NULL,
    place           TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    stamp           TEXT    NOT NULL,
    shared          INTEGER NOT NULL,
    imported_at     INTEGER NOT NULL,
    gone_at         INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, tool, id)
) WITHOUT ROWID;
CREATE INDEX origins_id ON origins (tool, id, conversation_id);
CREATE INDEX origins_root ON origins (tool, root, id, conversation_id);
CREATE INDEX origins_place ON origins (place, name, tool, id, conversation_id);
CREATE INDEX origins_folder ON origins (folder);

-- Of origins whose conversations were purged, hashes of what they were called: they are not
-- imported again unless somebody names their file.
CREATE TABLE purged_origins (
    origin  TEXT NOT NULL,
    project TEXT NOT NULL,
    PRIMARY KEY (origin, project)
) WITHOUT ROWID;

-- The conversations that have folders of their own are found by them.
CREATE INDEX conversations_roots ON conversations (roots) WHERE roots <> '[]' AND roots <> '';
-- So are the numbers of their branches, without a row being read.
CREATE INDEX branches_lines ON branches (conversation_id, n) WHERE n > 0;
