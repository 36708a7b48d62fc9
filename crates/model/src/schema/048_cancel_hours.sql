-- How many hours before the start guests can last move or cancel with their link; 0: until the start. A booking
-- keeps what its type had when it was made.
ALTER TABLE booking_types ADD COLUMN cancel_hours BIGINT NOT NULL DEFAULT 0;
ALTER TABLE bookings ADD COLUMN cancel_hours BIGINT NOT NULL DEFAULT 0;
