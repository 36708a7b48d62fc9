-- Words of the people known so far: of the address, and of the name its beginning and its last part.
INSERT INTO contact_words (ws, circle, word, email)
SELECT ws, circle, lower(substr(email, 1, strpos(email || '@', '@') - 1)), email FROM contacts
UNION
SELECT ws, circle, lower(substr(email, strpos(email, '@') + 1)), email FROM contacts
UNION
SELECT ws, circle, lower(substr(name, 1, 64)), email FROM contacts WHERE name <> ''
UNION
SELECT ws, circle, lower(substr(substr(name, strpos(name, ' ') + 1), 1, 64)), email
FROM contacts WHERE strpos(name, ' ') > 0;
