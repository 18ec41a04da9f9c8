-- how often a batch was opened: who worked on it before does not stop it after
ALTER TABLE batches ADD COLUMN opened BIGINT NOT NULL DEFAULT 0;
