-- A booking that an agent makes, moves (`act_of` is the one that it replaces) or cancels, which can be stopped
-- until `act_at`. Nobody outside is told before.
ALTER TABLE bookings ADD COLUMN act TEXT;
ALTER TABLE bookings ADD COLUMN act_at BIGINT;
ALTER TABLE bookings ADD COLUMN act_by TEXT;
ALTER TABLE bookings ADD COLUMN act_of TEXT;
ALTER TABLE bookings ADD COLUMN act_reason TEXT;
CREATE INDEX bookings_to_act ON bookings (act_at) WHERE act_at IS NOT NULL;
CREATE UNIQUE INDEX bookings_acted_on ON bookings (ws, act_of) WHERE act_at IS NOT NULL;
CREATE INDEX bookings_acted_by ON bookings (ws, act_by) WHERE act_at IS NOT NULL;
CREATE INDEX bookings_acting ON bookings (ws, circle, act_at, id) WHERE act_at IS NOT NULL;
