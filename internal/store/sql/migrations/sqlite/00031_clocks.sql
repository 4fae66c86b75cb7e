-- +goose Up

-- When the fields that may change were changed last, and in which store; those of conversations by their ids, those of
-- projects as project:NAME. A field without a row is as old as its owner. The value is kept where the owner has no
-- column for it, as JSON: of pins, which are named by message, and of fields that are not known yet.
CREATE TABLE clocks (
    owner TEXT    NOT NULL,
    field TEXT    NOT NULL,
    at    INTEGER NOT NULL,
    by    TEXT    NOT NULL,
    value TEXT    NOT NULL,
    PRIMARY KEY (owner, field)
) WITHOUT ROWID;

-- What is left of conversations that were purged.
CREATE TABLE stones (
    id      TEXT    NOT NULL PRIMARY KEY,
    project TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    by      TEXT    NOT NULL
) WITHOUT ROWID;

-- The ids of this store, of which the newest is its own; each belongs to one place.
CREATE TABLE nodes (
    since INTEGER NOT NULL PRIMARY KEY,
    id    TEXT    NOT NULL,
    place TEXT    NOT NULL
);

-- What was purged before and has heirs, or is being purged. What is only being brought, or was brought for its heirs, is
-- hidden in the same way, but is no older than that.
INSERT INTO stones (id, project, at, by)
    SELECT id, project, abs(purged_at), '' FROM conversations WHERE purged_at <> 0 AND created_at < abs(purged_at);
