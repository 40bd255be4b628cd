-- Writes value $4 under key $3 only while the lease of election $1 has token $2, in
-- one statement: for data in the database on which leadership stands itself. No
-- row was changed: another leads, or nobody. The row of the lease is locked until
-- the end, so nobody takes it in between.
WITH lease AS (
    SELECT token FROM ringleader_leases
    WHERE name = $1 AND token = $2 AND holder <> '' AND expires > clock_timestamp()
    FOR SHARE
)
INSERT INTO state (key, value)
SELECT $3, $4 FROM lease
ON CONFLICT (key) DO UPDATE SET value = excluded.value
