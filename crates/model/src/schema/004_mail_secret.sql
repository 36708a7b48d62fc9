-- What a workspace signs its mail's Message-IDs, reply addresses, return paths and loop marks with.
CREATE TABLE mail_secrets (
    ws     BIGINT NOT NULL PRIMARY KEY,
    secret BYTES NOT NULL
) {rows};
