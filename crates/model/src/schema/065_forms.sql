-- Pages on which anybody writes to an inbox without a mail program. `slug` is the page's address in the whole
-- installation. `fields` is what it asks for beside name, address and message, `sites` who may show it in a frame,
-- `tag` is put on what comes by it, `proof` says when a mailed code proves the address, `texts` has other languages.
CREATE TABLE contact_forms (
    ws         BIGINT NOT NULL,
    id         TEXT NOT NULL,
    mailbox    TEXT NOT NULL,
    slug       TEXT NOT NULL,
    title      TEXT NOT NULL,
    intro      TEXT NOT NULL,
    thanks     TEXT NOT NULL,
    fields     TEXT NOT NULL,
    sites      TEXT NOT NULL,
    tag        TEXT NOT NULL,
    proof      TEXT NOT NULL,
    texts      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (ws, id)
) {keyed};
CREATE UNIQUE INDEX contact_forms_by_slug ON contact_forms (slug);
CREATE INDEX contact_forms_of_inbox ON contact_forms (ws, mailbox);

-- The messages that came by a form: its slug at that time, the page that it was opened from, and what was typed
-- into the form's own fields, with their labels at that time. `stamp` is that of the page it was sent from. `proof`
-- says whether the address is proven, `opens` whether the right code releases it, `unmarked` that it came in
-- without a mark from an address that nobody has proven.
CREATE TABLE form_posts (
    ws           BIGINT NOT NULL,
    message      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    form_id      TEXT NOT NULL,
    form         TEXT NOT NULL,
    page         TEXT NOT NULL,
    answers      TEXT NOT NULL,
    at           BIGINT NOT NULL,
    stamp        BYTES NOT NULL,
    proof        TEXT NOT NULL,
    opens        BOOLEAN NOT NULL,
    unmarked     BOOLEAN NOT NULL,
    PRIMARY KEY (ws, message)
) {keyed};
CREATE INDEX form_posts_of_conversation ON form_posts (ws, conversation, message);
CREATE UNIQUE INDEX form_posts_by_stamp ON form_posts (ws, stamp);
CREATE INDEX form_posts_of_form ON form_posts (ws, form_id, at);
