-- +goose Up

-- The full-text index that was written with each message gives way to one that follows
-- behind them, and is made while the program runs.
DROP TABLE message_terms;

-- The last number that was given, where numbers may not come twice. That of messages is here
-- only if the newest message was purged.
CREATE TABLE numbers (
    name TEXT PRIMARY KEY,
    last INTEGER NOT NULL
) WITHOUT ROWID;

-- Branches have numbers besides their ids: with the seq they are the place of a message.
ALTER TABLE branches ADD COLUMN n INTEGER NOT NULL DEFAULT 0;
UPDATE branches SET n = b.n FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM branches) b WHERE b.id = branches.id;
CREATE UNIQUE INDEX branches_n ON branches (n);
INSERT INTO numbers VALUES ('branch', (SELECT count(*) FROM branches));

-- How far the full-text index reaches: the number of the last message in it, and how its
-- terms were cut. Runs of places that were purged are counted, and forgotten in that order.
CREATE TABLE index_state (
    id        INTEGER PRIMARY KEY,
    cut       INTEGER NOT NULL,
    watermark INTEGER NOT NULL,
    segment   INTEGER NOT NULL, -- the last that was made
    dropped   INTEGER NOT NULL, -- the last run that was dropped
    forgotten INTEGER NOT NULL  -- the last run that no segment can hold
);
INSERT INTO index_state VALUES (1, 0, 0, 0, 0, 0);

-- A segment is being built (state 0), is searched (1), or is to be removed (2). One that is
-- being built belongs to its builder until a time. into_segment is what it is being joined
-- into. It holds nothing of the runs up to number clean.
CREATE TABLE index_segments (
    id           INTEGER PRIMARY KEY,
    state        INTEGER NOT NULL,
    tier         INTEGER NOT NULL,
    documents    INTEGER NOT NULL,
    terms        INTEGER NOT NULL,
    clean        INTEGER NOT NULL,
    into_segment INTEGER NOT NULL,
    until        INTEGER NOT NULL,
    places       BLOB    NOT NULL
);
CREATE INDEX index_segments_state ON index_segments (state);

-- Terms with where they are, from first_term on; or, if it has rows of its own, a part of
-- where first_term is, from the document start on. Rows are found by an index of their own:
-- in a tree of keys, each comparison would read all of a row.
CREATE TABLE index_blocks (
    id         INTEGER PRIMARY KEY,
    segment    INTEGER NOT NULL,
    first_term TEXT    NOT NULL,
    start      INTEGER NOT NULL,
    data       BLOB    NOT NULL
);
CREATE UNIQUE INDEX index_blocks_term ON index_blocks (segment, first_term, start);

-- What is known of a segment's documents from start on besides their terms.
CREATE TABLE index_marks (
    id        INTEGER PRIMARY KEY,
    segment   INTEGER NOT NULL,
    start     INTEGER NOT NULL,
    from_time INTEGER NOT NULL,
    to_time   INTEGER NOT NULL,
    data      BLOB    NOT NULL
);
CREATE UNIQUE INDEX index_marks_start ON index_marks (segment, start);

-- Runs of places whose messages were purged: of a branch, by its number, from a seq on.
CREATE TABLE index_dropped (
    branch    INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    n         INTEGER NOT NULL,
    PRIMARY KEY (branch, first_seq)
) WITHOUT ROWID;
CREATE INDEX index_dropped_n ON index_dropped (n);
