UPDATE contacts SET domain = substr(email, strpos(email, '@') + 1) WHERE strpos(email, '@') > 0;
CREATE INDEX contacts_by_domain ON contacts (ws, circle, domain, last_at, email);
