-- +goose Up

-- What conversations, and stones of them, come to, as it was worked out behind change n; an empty digest is to be worked
-- out again. The row without an id says up to which change all are here.
CREATE TABLE digests (
    id     TEXT    NOT NULL PRIMARY KEY,
    n      INTEGER NOT NULL,
    digest TEXT    NOT NULL
) WITHOUT ROWID;

-- Marks of other stores: what they held then was taken.
CREATE TABLE met (
    mark TEXT    NOT NULL PRIMARY KEY,
    at   INTEGER NOT NULL
) WITHOUT ROWID;

-- What tells a change from the one of that number in a copy of this database, or in what a backup is put back into; 0 in
-- changes from before.
ALTER TABLE changes ADD COLUMN k INTEGER NOT NULL DEFAULT 0;
