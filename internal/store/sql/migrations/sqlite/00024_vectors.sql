-- +goose Up

-- What a model of embeddings made of messages, by the messages' numbers: a view of the log like the search
-- index, there only while somebody asks for it. sketch is what is compared first, data and scale the vector.
CREATE TABLE vectors (
    n          INTEGER PRIMARY KEY,
    branch     INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    role       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    sketch     BLOB    NOT NULL,
    scale      REAL    NOT NULL,
    data       BLOB    NOT NULL
);
CREATE UNIQUE INDEX vectors_place ON vectors (branch, seq);

-- Which model, how far it has come, how many vectors there are, and how often some were purged.
CREATE TABLE vector_state (
    id        INTEGER PRIMARY KEY,
    model     TEXT    NOT NULL,
    dimension INTEGER NOT NULL,
    watermark INTEGER NOT NULL,
    vectors   INTEGER NOT NULL,
    purged    INTEGER NOT NULL
);
INSERT INTO vector_state VALUES (1, '', 0, 0, 0, 0);
