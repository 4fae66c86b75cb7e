-- +goose Up

-- The accounts of a conversation's steps are found through its turns: an index that only
-- a purge reads would cost each turn two pages.
DROP INDEX turn_steps_conversation;
