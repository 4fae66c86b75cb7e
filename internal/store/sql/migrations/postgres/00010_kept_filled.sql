-- +goose Up

-- A store without messages has none that an older program stored: nothing is looked for in it.
UPDATE kept_filling SET ended = 1 WHERE NOT EXISTS (SELECT 1 FROM messages);
