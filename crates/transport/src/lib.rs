//! How the program reaches others and is reached: listeners and clients of HTTP, mail and calendars, sign-in at
//! providers, names, certificates and object storage.

pub mod acme;
pub mod calendars;
pub mod graph;
pub mod http;
pub mod imap_client;
pub mod mail_oauth;
pub mod mail_out;
pub mod mailbox_setup;
pub mod net;
pub mod oidc;
pub mod reply_model;
pub mod webhooks;
