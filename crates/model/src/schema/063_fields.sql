-- Fields that a workspace adds to its contacts, their companies and its conversations. `choices` is a list of what a field of the kind
-- `choice` can be.
CREATE TABLE fields (
    ws         BIGINT NOT NULL,
    name       TEXT NOT NULL,
    owner      TEXT NOT NULL,
    kind       TEXT NOT NULL,
    choices    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, name)
) {keyed};

-- Values of fields by the name of the field. They are found by `folded`, and by `number` where their kind has an order:
-- ten thousandths of a number or sum, and the first millisecond of a day.
CREATE TABLE conversation_fields (
    ws           BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    field        TEXT NOT NULL,
    value        TEXT NOT NULL,
    folded       TEXT NOT NULL,
    number       BIGINT,
    PRIMARY KEY (ws, conversation, field)
) {keyed};
CREATE INDEX conversation_fields_by_text ON conversation_fields (ws, field, folded, conversation);
CREATE INDEX conversation_fields_by_number ON conversation_fields (ws, field, number, conversation)
    WHERE number IS NOT NULL;

CREATE TABLE contact_fields (
    ws     BIGINT NOT NULL,
    email  TEXT NOT NULL,
    field  TEXT NOT NULL,
    circle TEXT NOT NULL,
    value  TEXT NOT NULL,
    folded TEXT NOT NULL,
    number BIGINT,
    PRIMARY KEY (ws, email, field, circle)
) {keyed};
CREATE INDEX contact_fields_by_text ON contact_fields (ws, field, folded, email);
CREATE INDEX contact_fields_by_number ON contact_fields (ws, field, number, email)
    WHERE number IS NOT NULL;

-- Companies have values by the domain of their people's addresses.
CREATE TABLE company_fields (
    ws      BIGINT NOT NULL,
    company TEXT NOT NULL,
    field   TEXT NOT NULL,
    circle  TEXT NOT NULL,
    value   TEXT NOT NULL,
    folded  TEXT NOT NULL,
    number  BIGINT,
    PRIMARY KEY (ws, company, field, circle)
) {keyed};
CREATE INDEX company_fields_by_text ON company_fields (ws, field, folded, company);
CREATE INDEX company_fields_by_number ON company_fields (ws, field, number, company)
    WHERE number IS NOT NULL;
