-- +goose Up

-- What a model of embeddings made of messages, by the messages' numbers: a view of the log like the search
-- index, there only while somebody asks for it. sketch is what is compared first, data and scale the vector.
CREATE TABLE vectors (
    n          BIGINT NOT NULL,
    branch     BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    role       TEXT   COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    sketch     BYTEA  NOT NULL,
    scale      DOUBLE PRECISION NOT NULL,
    data       BYTEA  NOT NULL,
    PRIMARY KEY (n)
);
CREATE UNIQUE INDEX vectors_place ON vectors (branch, seq);

-- Which model, how far it has come, how many vectors there are, and how often some were purged.
CREATE TABLE vector_state (
    id        BIGINT PRIMARY KEY,
    model     TEXT   COLLATE "C" NOT NULL,
    dimension BIGINT NOT NULL,
    watermark BIGINT NOT NULL,
    vectors   BIGINT NOT NULL,
    purged    BIGINT NOT NULL
);
INSERT INTO vector_state VALUES (1, '', 0, 0, 0, 0);
