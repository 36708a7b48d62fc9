-- How a workspace looks to its customers. `logo` is a PNG in Base64, empty without one; `logo_name` is its hash, by
-- which pages ask for it. `colour` is `chosen_colour` as it is used, darkened where words on it could not be read.
CREATE TABLE brandings (
    ws            BIGINT NOT NULL,
    chosen_colour TEXT NOT NULL,
    colour        TEXT NOT NULL,
    logo          TEXT NOT NULL,
    logo_name     TEXT,
    logo_width    BIGINT NOT NULL,
    logo_height   BIGINT NOT NULL,
    in_mail       BOOLEAN NOT NULL,
    changed_at    BIGINT NOT NULL,
    PRIMARY KEY (ws)
) {keyed};
CREATE INDEX brandings_by_logo ON brandings (logo_name);
