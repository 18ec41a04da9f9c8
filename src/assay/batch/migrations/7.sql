-- batches at vendors
CREATE TABLE vendor_batches (
    batch_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    vendor_id TEXT NOT NULL,
    calls TEXT NOT NULL,
    state TEXT NOT NULL,
    sent_at BIGINT NOT NULL,
    PRIMARY KEY (batch_id, provider, vendor_id)
);
