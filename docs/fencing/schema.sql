-- One row for each resource: the highest fencing token that has been shown for
-- it. A token has one spelling, so equal texts are equal tokens; its term is the
-- number in front.
CREATE TABLE fence (
    resource text PRIMARY KEY,
    token    text NOT NULL CHECK (
        token ~ '^[1-9][0-9]{0,15};node=[1-9][0-9]{0,15};incarnation=[0-9a-f]{32}$'
    ),
    term     bigint NOT NULL GENERATED ALWAYS AS (split_part(token, ';', 1)::bigint) STORED
);
