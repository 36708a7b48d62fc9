-- Words of the people known so far: of the address, and of the name its beginning and its last part.
INSERT OR IGNORE INTO contact_words (ws, circle, word, email)
SELECT ws, circle, lower(substr(email, 1, instr(email || '@', '@') - 1)), email FROM contacts
UNION
SELECT ws, circle, lower(substr(email, instr(email, '@') + 1)), email FROM contacts
UNION
SELECT ws, circle, lower(substr(name, 1, 64)), email FROM contacts WHERE name <> ''
UNION
SELECT ws, circle, lower(substr(substr(name, instr(name, ' ') + 1), 1, 64)), email
FROM contacts WHERE instr(name, ' ') > 0;
