-- faults of a provider in a row: from the fifth on, one call at a time tries for all workers
ALTER TABLE buckets ADD COLUMN faults BIGINT NOT NULL DEFAULT 0;
