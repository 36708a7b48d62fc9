-- Connections to e-mail-sending services. `token` is part of the address that the service calls;
-- `secret`, which its calls are checked with, and `api_key` are sealed. `secret` is null until it is
-- known.
CREATE TABLE services (
    ws            BIGINT NOT NULL,
    id            TEXT NOT NULL,
    service       TEXT NOT NULL,
    token         TEXT NOT NULL,
    secret        TEXT,
    api_key       TEXT NOT NULL,
    api_url       TEXT NOT NULL,
    reference_tag TEXT NOT NULL,
    made_by       TEXT NOT NULL,
    noted         BIGINT NOT NULL,
    last_noted_at BIGINT,
    last_error    TEXT,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX services_by_token ON services (token);

-- Mail that a service told of has the service's own name for it. Its words are read when
-- `words_due_at` has come, which is planned when somebody answers. A reference that is not known is
-- empty, and so is a subject.
ALTER TABLE app_mail ADD COLUMN service TEXT;
ALTER TABLE app_mail ADD COLUMN service_mail TEXT;
ALTER TABLE app_mail ADD COLUMN words_due_at BIGINT;
ALTER TABLE app_mail ADD COLUMN words_tries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE app_mail ADD COLUMN words_since BIGINT;
CREATE INDEX app_mail_words_due ON app_mail (words_due_at) WHERE words_due_at IS NOT NULL;
