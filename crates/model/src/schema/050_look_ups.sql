-- What is looked for by booking is read from this index alone. SQLite would otherwise read every booking of the
-- workspace from the wider one.
DROP INDEX host_bookings_of_booking;
CREATE INDEX host_bookings_of_booking
    ON host_bookings (ws, booking, person, holds_until, pad_from, pad_to);
-- The tags of one conversation.
CREATE INDEX conversation_tags_of_conversation ON conversation_tags (ws, conversation, tag);
