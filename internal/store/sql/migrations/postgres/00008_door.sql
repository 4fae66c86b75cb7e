-- +goose Up

-- How the clients of other APIs are answered that come with a key; empty leaves it to the project.
ALTER TABLE keys ADD COLUMN door TEXT NOT NULL DEFAULT '';

-- Turns beside a conversation's path that are neither listed nor found: few, and asked for with every search.
CREATE INDEX thread_requests_leaf ON thread_requests (conversation_id, id) WHERE leaf = 1;
