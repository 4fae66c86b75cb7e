-- +goose Up

-- The writer merges the index between commits, in bounded steps; a commit only
-- adds to it. A level is merged when it has usermerge segments.
INSERT INTO message_terms (message_terms, rank) VALUES ('automerge', 0);
INSERT INTO message_terms (message_terms, rank) VALUES ('usermerge', 16);
INSERT INTO message_terms (message_terms, rank) VALUES ('crisismerge', 512);
INSERT INTO message_terms (message_terms, rank) VALUES ('pgsz', 978);
