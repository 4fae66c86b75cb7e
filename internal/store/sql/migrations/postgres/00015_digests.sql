-- +goose Up

-- What conversations, and stones of them, come to, as it was worked out behind change n; an empty digest is to be worked
-- out again. The row without an id says up to which change all are here.
CREATE TABLE digests (
    id     TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    n      BIGINT NOT NULL,
    digest TEXT   COLLATE "C" NOT NULL
);

-- Marks of other stores: what they held then was taken.
CREATE TABLE met (
    mark TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    at   BIGINT NOT NULL
);

-- What tells a change from the one of that number in a copy of this database, or in what a backup is put back into; 0 in
-- changes from before.
ALTER TABLE changes ADD COLUMN k BIGINT NOT NULL DEFAULT 0;
