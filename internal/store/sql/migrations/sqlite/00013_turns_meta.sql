-- +goose Up

-- What is known about a turn beside its messages, as JSON: how long its model thought,
-- and what was searched for on the web. Empty for nothing.
ALTER TABLE turns ADD COLUMN meta TEXT NOT NULL DEFAULT '';
