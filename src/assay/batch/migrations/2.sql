-- tenants take turns; calls in flight across workers
ALTER TABLE batches ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE buckets ADD COLUMN in_flight BIGINT;
ALTER TABLE buckets ADD COLUMN flying BIGINT NOT NULL DEFAULT 0;
CREATE TABLE flights (
    bucket TEXT NOT NULL, owner TEXT NOT NULL, flying BIGINT NOT NULL, until BIGINT NOT NULL,
    PRIMARY KEY (bucket, owner)
);
CREATE TABLE turns (
    bucket TEXT NOT NULL, tenant TEXT NOT NULL, served BIGINT NOT NULL, waits_until BIGINT NOT NULL,
    PRIMARY KEY (bucket, tenant)
);
