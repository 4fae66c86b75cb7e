-- +goose Up

-- How the clients of other APIs are answered that come with a key; empty leaves it to the project.
ALTER TABLE keys ADD COLUMN door TEXT NOT NULL DEFAULT '';
