-- What a mail says (`mail::content_hash`), by which it is told from another with the same Message-ID. Null for
-- messages of ours and for mail from before. `header_key` of such another mail is the Message-ID, a space and this.
ALTER TABLE messages ADD COLUMN content_hash TEXT;

-- What transactions change that count the same things before they add one (`model/counting_turns`).
CREATE TABLE counting_turns (
    ws    BIGINT NOT NULL,
    num   BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    PRIMARY KEY (ws, num)
) {keyed};
