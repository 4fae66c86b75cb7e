-- +goose Up

-- When the fields that may change were changed last, and in which store; those of conversations by their ids, those of
-- projects as project:NAME. A field without a row is as old as its owner. The value is kept where the owner has no
-- column for it, as JSON: of pins, which are named by message, and of fields that are not known yet.
CREATE TABLE clocks (
    owner TEXT   COLLATE "C" NOT NULL,
    field TEXT   COLLATE "C" NOT NULL,
    at    BIGINT NOT NULL,
    by    TEXT   COLLATE "C" NOT NULL,
    value TEXT   COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, field)
);

-- What is left of conversations that were purged.
CREATE TABLE stones (
    id      TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    project TEXT   COLLATE "C" NOT NULL,
    at      BIGINT NOT NULL,
    by      TEXT   COLLATE "C" NOT NULL
);

-- The ids of this store, of which the newest is its own; each belongs to one place.
CREATE TABLE nodes (
    since BIGINT NOT NULL PRIMARY KEY,
    id    TEXT   COLLATE "C" NOT NULL,
    place TEXT   COLLATE "C" NOT NULL
);

-- What was purged before and has heirs, or is being purged. What is only being brought, or was brought for its heirs, is
-- hidden in the same way, but is no older than that.
INSERT INTO stones (id, project, at, by)
    SELECT id, project, abs(purged_at), '' FROM conversations WHERE purged_at <> 0 AND created_at < abs(purged_at);
