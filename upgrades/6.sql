-- Adds what the office page shows of a session, who is logged in on the PC that opened it,
-- and whether a department's first steps are hidden.
ALTER TABLE tenants ADD COLUMN steps_hidden INTEGER NOT NULL DEFAULT 0 CHECK (steps_hidden IN (0, 1));
ALTER TABLE keys ADD COLUMN device TEXT NOT NULL DEFAULT '' CHECK (length(device) <= 100);
ALTER TABLE keys ADD COLUMN login TEXT NOT NULL DEFAULT '' CHECK (length(login) <= 100);
ALTER TABLE invitations ADD COLUMN login TEXT NOT NULL DEFAULT '' CHECK (length(login) <= 100);
