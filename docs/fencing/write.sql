-- Admits token $2 for resource $1 and writes value $4 under key $3, in one
-- statement. No row was changed: the token is stale, and nothing is written.
WITH admitted AS (
    INSERT INTO fence AS f (resource, token)
    VALUES ($1, $2)
    ON CONFLICT (resource) DO UPDATE SET token = excluded.token
    WHERE f.term < excluded.term OR f.token = excluded.token
    RETURNING f.token
)
INSERT INTO state (key, value)
SELECT $3, $4 FROM admitted
ON CONFLICT (key) DO UPDATE SET value = excluded.value
