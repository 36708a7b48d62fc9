-- What is looked for by booking is read from this index alone. SQLite would otherwise read every booking of the
-- workspace from the wider one.
DROP INDEX host_bookings_of_booking;
CREATE INDEX host_bookings_of_booking
    ON host_bookings (ws, booking, person, holds_until, pad_from, pad_to);
