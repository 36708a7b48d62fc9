UPDATE contacts SET domain = substr(email, instr(email, '@') + 1) WHERE instr(email, '@') > 0;
CREATE INDEX contacts_by_domain ON contacts (ws, circle, domain, last_at, email);
