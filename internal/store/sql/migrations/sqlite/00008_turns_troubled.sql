-- +goose Up

-- The seq of the last message that a turn stored, or else of the head when it began.
-- A step stores an answer, and behind it the results of its look-ups.
ALTER TABLE turns ADD COLUMN last_seq INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET last_seq = max(seq, coalesce(
    (SELECT m.seq + (SELECT count(*) FROM messages r WHERE r.branch = m.branch AND r.seq = m.seq + 1 AND r.turn_id = turns.id)
     FROM messages m WHERE m.id = turns.reply), 0));

-- The turns of a stretch of a branch that did not end well; the others are not in it.
CREATE INDEX turns_troubled ON turns (branch, last_seq, id)
    WHERE state IN ('failed', 'over_budget', 'interrupted') OR finish_reason IN ('max_steps', 'length');
