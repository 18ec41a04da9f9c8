-- what attempts may have taken of which nobody knows the end
ALTER TABLE purses ADD COLUMN unknown_cost BIGINT NOT NULL DEFAULT 0;
ALTER TABLE purses ADD COLUMN unknown_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE purses ADD COLUMN unknown_calls BIGINT NOT NULL DEFAULT 0;
