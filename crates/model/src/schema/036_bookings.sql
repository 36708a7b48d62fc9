-- The offers of a conversation are read with its messages.
CREATE INDEX booking_offers_of_conversation ON booking_offers (ws, conversation);

-- The public holidays on which a host has no hours: a country, or a part of one, such as `DE-BY`; empty
-- for none.
ALTER TABLE hosts ADD COLUMN holidays TEXT NOT NULL DEFAULT '';
