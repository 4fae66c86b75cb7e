-- +goose Up

-- The accounts of a conversation's steps are found through its turns: an index that only
-- a purge reads would cost each turn two pages.
DROP INDEX turn_steps_conversation;

-- What the first step of a turn sent stands in its row, which that step changes anyway:
-- most turns have one. turn_steps has the others, and those of older turns.
ALTER TABLE turns ADD COLUMN sent TEXT NOT NULL DEFAULT '';
