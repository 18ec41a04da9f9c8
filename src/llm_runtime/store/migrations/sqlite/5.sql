-- owners of runs
-- What a run's holder names stands here for as long as that one lives; there are no files of locks any more.
CREATE TABLE owners (
    name TEXT PRIMARY KEY,
    process TEXT NOT NULL,
    beat INTEGER NOT NULL
) STRICT
