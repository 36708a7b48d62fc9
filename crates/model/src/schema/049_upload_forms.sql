-- The form that an uploaded file was sent from and the file itself, as a hash: what one form sends is stored
-- once. A file that was removed can be sent again.
ALTER TABLE uploads ADD COLUMN form BYTES;
CREATE UNIQUE INDEX uploads_by_form ON uploads (ws, request, form) WHERE state <> 'removed';
