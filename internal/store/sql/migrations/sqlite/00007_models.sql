-- +goose Up

-- What is known of a model: its tokens an o200k token, as its provider's counts
-- have taught it (0 for nothing yet), and the rest as JSON.
CREATE TABLE models_learned (
    model  TEXT PRIMARY KEY,
    factor REAL NOT NULL,
    facts  TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO models_learned SELECT model, factor, '' FROM model_factors;
DROP TABLE model_factors;

-- With these the sums of a day follow from its records. What older records are of
-- is not known: NULL.
ALTER TABLE usage_records ADD COLUMN project TEXT;
ALTER TABLE usage_records ADD COLUMN total_tokens INTEGER;
CREATE INDEX usage_records_at ON usage_records (at);
