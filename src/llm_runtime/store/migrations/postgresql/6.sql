-- records in Zstandard
SELECT 1;
