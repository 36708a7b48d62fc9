-- Whose inbox the postmaster of a domain is.
CREATE INDEX mailboxes_by_domain ON mailboxes (substr(address, instr(address, '@')), created_at, id)
    WHERE circle = 'team';
