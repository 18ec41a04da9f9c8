-- what attempts may have taken of which nobody knows the end
ALTER TABLE records ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0;
