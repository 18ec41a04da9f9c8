-- what attempts may have taken of which nobody knows the end
ALTER TABLE records ADD COLUMN unknown BIGINT NOT NULL DEFAULT 0;
