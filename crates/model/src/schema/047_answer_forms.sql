-- The form that an answer on a protected page was sent from, as a hash: what one form sends is stored once.
ALTER TABLE secure_messages ADD COLUMN form BYTES;
CREATE UNIQUE INDEX secure_messages_by_form ON secure_messages (ws, form);
