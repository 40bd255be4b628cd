-- Admits token $2 for resource $1 and keeps it: a row. No row: it is stale, so
-- roll back and stop. Run by itself it is the seal, a new leader's first call;
-- run first in a transaction it fences all that follows: the row stays locked
-- until the end, and whoever comes meanwhile waits and then compares again.
INSERT INTO fence AS f (resource, token)
VALUES ($1, $2)
ON CONFLICT (resource) DO UPDATE SET token = excluded.token
WHERE f.term < excluded.term OR f.token = excluded.token
RETURNING f.token
