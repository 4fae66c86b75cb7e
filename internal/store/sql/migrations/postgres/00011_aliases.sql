-- +goose Up

-- Ids that were given up, because what they name has another one too: what is shown now, by the kind of thing. No id
-- that is shown is given up itself.
CREATE TABLE aliases (
    kind TEXT COLLATE "C" NOT NULL, -- conversation, branch, message, turn, segment
    id   TEXT COLLATE "C" NOT NULL,
    now  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX aliases_now ON aliases (kind, now);
