-- +goose Up

-- Which branches were worked on in which folder, so that those of a place are read without a look at each of its
-- conversations: bit i of a part p is branch 60 p + i. A conversation counts in the folders where it was imported from,
-- in its own ones, and in those of whom it works for, up to three above. The triggers keep it so.
CREATE TABLE index_worked (
    folder TEXT    NOT NULL,
    part   INTEGER NOT NULL,
    bits   INTEGER NOT NULL,
    PRIMARY KEY (folder, part)
) WITHOUT ROWID;
CREATE INDEX index_worked_part ON index_worked (part);

-- A conversation with itself, and with those that work for it.
CREATE VIEW agents_below (conversation_id, id) AS
    SELECT a.id, a.id FROM conversations a
    UNION ALL SELECT a.agent_of, a.id FROM conversations a WHERE a.agent_of <> ''
    UNION ALL SELECT a.agent_of, b.id FROM conversations a CROSS JOIN conversations b
        WHERE a.agent_of <> '' AND b.agent_of = a.id AND b.agent_of <> ''
    UNION ALL SELECT a.agent_of, c.id FROM conversations a CROSS JOIN conversations b CROSS JOIN conversations c
        WHERE a.agent_of <> '' AND b.agent_of = a.id AND b.agent_of <> '' AND c.agent_of = b.id AND c.agent_of <> '';

-- A conversation with itself, and with those that it works for.
CREATE VIEW leaders_above (conversation_id, id) AS
    SELECT a.id, a.id FROM conversations a
    UNION ALL SELECT a.id, a.agent_of FROM conversations a WHERE a.agent_of <> ''
    UNION ALL SELECT a.id, b.agent_of FROM conversations a CROSS JOIN conversations b
        WHERE a.agent_of <> '' AND b.id = a.agent_of AND b.agent_of <> ''
    UNION ALL SELECT a.id, c.agent_of FROM conversations a CROSS JOIN conversations b CROSS JOIN conversations c
        WHERE a.agent_of <> '' AND b.id = a.agent_of AND b.agent_of <> '' AND c.id = b.agent_of AND c.agent_of <> '';

-- The folders that conversations have of their own. Damaged ones are none.
CREATE VIEW own_folders (conversation_id, folder) AS
    SELECT c.id, r.value FROM conversations c
        CROSS JOIN json_each(CASE WHEN json_valid(c.roots) THEN c.roots ELSE '[]' END) r
        WHERE c.roots <> '[]' AND c.roots <> '' AND r.type = 'text' AND r.value <> '';

INSERT INTO index_worked (folder, part, bits)
    SELECT folder, n / 60, sum(1 << (n % 60)) FROM (
        SELECT o.folder AS folder, b.n AS n FROM origins o CROSS JOIN branches b
            WHERE o.folder <> '' AND b.conversation_id = o.conversation_id AND b.n > 0
        UNION SELECT o.folder, b.n FROM agents_below a CROSS JOIN origins o CROSS JOIN branches b
            WHERE a.id <> a.conversation_id AND o.conversation_id = a.conversation_id AND o.folder <> ''
            AND b.conversation_id = a.id AND b.n > 0
        UNION SELECT r.folder, b.n FROM own_folders r CROSS JOIN agents_below a CROSS JOIN branches b
            WHERE a.conversation_id = r.conversation_id AND b.conversation_id = a.id AND b.n > 0)
    GROUP BY folder, n / 60;

-- +goose StatementBegin
CREATE TRIGGER branches_worked_in AFTER INSERT ON branches WHEN NEW.n > 0
BEGIN
    INSERT INTO index_worked (folder, part, bits)
        SELECT o.folder, NEW.n / 60, 1 << (NEW.n % 60) FROM origins o WHERE o.folder <> '' AND o.conversation_id IN
            (SELECT l.id FROM leaders_above l WHERE l.conversation_id = NEW.conversation_id)
        ON CONFLICT (folder, part) DO UPDATE SET bits = bits | excluded.bits;
    INSERT INTO index_worked (folder, part, bits)
        SELECT r.folder, NEW.n / 60, 1 << (NEW.n % 60) FROM own_folders r WHERE r.conversation_id IN
            (SELECT l.id FROM leaders_above l WHERE l.conversation_id = NEW.conversation_id)
        ON CONFLICT (folder, part) DO UPDATE SET bits = bits | excluded.bits;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER branches_counted_again AFTER UPDATE OF n ON branches
BEGIN
    UPDATE index_worked SET bits = bits & ~(1 << (OLD.n % 60)) WHERE part = OLD.n / 60;
    INSERT INTO index_worked (folder, part, bits)
        SELECT o.folder, NEW.n / 60, 1 << (NEW.n % 60) FROM origins o WHERE o.folder <> '' AND o.conversation_id IN
            (SELECT l.id FROM leaders_above l WHERE l.conversation_id = NEW.conversation_id) AND NEW.n > 0
        ON CONFLICT (folder, part) DO UPDATE SET bits = bits | excluded.bits;
    INSERT INTO index_worked (folder, part, bits)
        SELECT r.folder, NEW.n / 60, 1 << (NEW.n % 60) FROM own_folders r WHERE r.conversation_id IN
            (SELECT l.id FROM leaders_above l WHERE l.conversation_id = NEW.conversation_id) AND NEW.n > 0
        ON CONFLICT (folder, part) DO UPDATE SET bits = bits | excluded.bits;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER branches_left AFTER DELETE ON branches WHEN OLD.n > 0
BEGIN
    UPDATE index_worked SET bits = bits & ~(1 << (OLD.n % 60)) WHERE part = OLD.n / 60;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER origins_worked_in AFTER INSERT ON origins WHEN NEW.folder <> ''
BEGIN
    INSERT INTO index_worked (folder, part, bits)
        SELECT NEW.folder, b.n / 60, 1 << (b.n % 60) FROM branches b WHERE b.n > 0 AND b.conversation_id IN
            (SELECT NEW.conversation_id UNION ALL SELECT a.id FROM agents_below a WHERE a.conversation_id = NEW.conversation_id)
        ON CONFLICT (folder, part) DO UPDATE SET bits = bits | excluded.bits;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER origins_moved AFTER UPDATE OF folder ON origins WHEN NEW.folder <> OLD.folder
BEGIN
    UPDATE branches SET n = n WHERE n > 0 AND conversation_id IN
        (SELECT NEW.conversation_id UNION ALL SELECT a.id FROM agents_below a WHERE a.conversation_id = NEW.conversation_id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER origins_left AFTER DELETE ON origins WHEN OLD.folder <> ''
BEGIN
    UPDATE branches SET n = n WHERE n > 0 AND conversation_id IN
        (SELECT OLD.conversation_id UNION ALL SELECT a.id FROM agents_below a WHERE a.conversation_id = OLD.conversation_id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER conversations_worked_in AFTER INSERT ON conversations
    WHEN NEW.agent_of <> '' OR NEW.roots <> '[]' AND NEW.roots <> ''
BEGIN
    UPDATE branches SET n = n WHERE n > 0 AND conversation_id IN
        (SELECT a.id FROM agents_below a WHERE a.conversation_id = NEW.id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER conversations_moved AFTER UPDATE OF roots, agent_of ON conversations
    WHEN NEW.roots <> OLD.roots OR NEW.agent_of <> OLD.agent_of
BEGIN
    UPDATE branches SET n = n WHERE n > 0 AND conversation_id IN
        (SELECT a.id FROM agents_below a WHERE a.conversation_id = NEW.id);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER conversations_left AFTER DELETE ON conversations
    WHEN OLD.agent_of <> '' OR OLD.roots <> '[]' AND OLD.roots <> ''
BEGIN
    UPDATE branches SET n = n WHERE n > 0 AND conversation_id IN
        (SELECT OLD.id UNION ALL SELECT a.id FROM agents_below a WHERE a.conversation_id = OLD.id);
END;
-- +goose StatementEnd
