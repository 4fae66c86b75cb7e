-- +goose Up

-- hash is the SHA-256 of the secret, projects a JSON list, empty for all projects.
CREATE TABLE keys (
    id           TEXT    NOT NULL PRIMARY KEY,
    hash         BLOB    NOT NULL UNIQUE,
    name         TEXT    NOT NULL,
    role         INTEGER NOT NULL,
    projects     TEXT    NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL DEFAULT 0,
    revoked_at   INTEGER NOT NULL DEFAULT 0,
    last_used_at INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX keys_age ON keys (created_at, id);

-- A browser that was given a cookie in exchange for a key. hash is the SHA-256 of the cookie.
CREATE TABLE sign_ins (
    hash       BLOB    NOT NULL PRIMARY KEY,
    key_id     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sign_ins_key ON sign_ins (key_id, created_at);
CREATE INDEX sign_ins_ended ON sign_ins (expires_at);
