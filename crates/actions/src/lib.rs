//! What people do in the app and at the command line: approve and stop what agents write, snooze,
//! and look after keys, people, inboxes and webhooks.

pub mod bookings;
pub mod conversation_bookings;
pub mod conversations;
pub mod documents;
pub mod inboxes;
pub mod integrations;
pub mod people;
pub mod sign_in;
pub mod workspace;
pub mod writing;
