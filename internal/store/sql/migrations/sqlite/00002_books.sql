-- +goose Up

-- The usage of a day (since 1970, UTC), added up as it is entered.
CREATE TABLE usage_days (
    day                INTEGER NOT NULL,
    model              TEXT    NOT NULL,
    project            TEXT    NOT NULL,
    currency           TEXT    NOT NULL,
    calls              INTEGER NOT NULL,
    estimated_calls    INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    cached_tokens      INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    total_tokens       INTEGER NOT NULL,
    cost               REAL    NOT NULL,
    PRIMARY KEY (day, model, project, currency)
) WITHOUT ROWID;

INSERT INTO usage_days
SELECT u.at / 86400000, u.model, c.project, u.currency, count(*), sum(u.estimated), sum(u.input_tokens), sum(u.cached_tokens),
    sum(u.cache_write_tokens), sum(u.output_tokens), sum(u.reasoning_tokens), sum(u.input_tokens + u.output_tokens), sum(u.cost)
FROM usage_records u JOIN conversations c ON c.id = u.conversation_id
GROUP BY u.at / 86400000, u.model, c.project, u.currency;

-- What providers' counts have taught: a model's tokens an o200k token.
CREATE TABLE model_factors (
    model  TEXT PRIMARY KEY,
    factor REAL NOT NULL
) WITHOUT ROWID;
