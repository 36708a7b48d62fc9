-- What is known of the installation as a whole; there is one row. `identity` tells this database
-- from a copy of it; `address` is where a server was last reached; while `quiet_reason` is set,
-- nothing is sent or fetched.
CREATE TABLE installation (
    id           BIGINT NOT NULL PRIMARY KEY,
    identity     TEXT,
    address      TEXT,
    quiet_reason TEXT,
    quiet_since  BIGINT
) {keyed};
INSERT INTO installation (id) VALUES (1);
