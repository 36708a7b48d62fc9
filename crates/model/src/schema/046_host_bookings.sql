-- What decides about free times is read from the index alone.
DROP INDEX host_bookings_in_order;
CREATE INDEX host_bookings_in_order
    ON host_bookings (ws, person, pad_to, pad_from, starts_at, ends_at, type, holds_until, booking);
