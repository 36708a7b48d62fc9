//! The domain of Mailroom: every operation, row, event and piece of due work.
//!
//! Each operation is one function and one transaction that loads, decides, writes and announces,
//! with the actor as an argument. Every door (REST, MCP, the app, the command line, mail) calls
//! the same functions, so a rule lives in one place.
//!
//! Deliberately absent: HTTP, sockets, the system clock inside operations.

pub mod actor;
pub mod addresses;
mod app;
mod app_mail;
pub mod audit;
pub mod blobs;
mod calls;
mod checks;
mod conversations;
mod correspondents;
mod cursor;
mod documents;
pub mod domains;
pub mod due;
mod enclosures;
mod error;
mod events;
pub mod fetching;
pub mod fields;
pub mod idempotency;
pub mod ids;
pub mod installation;
pub mod intake;
pub mod limits;
mod listing;
pub mod looks;
mod mail_dates;
pub mod mailboxes;
mod members;
pub mod mentions;
mod messages;
pub mod node_files;
pub mod notices;
pub mod operations;
mod originals;
mod outgoing;
pub mod pdf;
pub mod people;
pub mod private_files;
mod rate;
mod receive;
mod requests;
mod sandbox;
mod schema;
pub mod sealing;
mod search;
pub mod secrets;
pub mod services;
pub mod signing;
mod tags;
mod tallies;
mod threading;
pub mod time;
mod timeline;
pub mod uploads;
pub mod webhooks;
pub mod wire;
mod words;

pub use app::{App, Cx, PAGES};
pub use calls::ApiCall;
pub use conversations::load as load_conversation;
pub use enclosures::{NewAttachment, OutgoingAttachment};
pub use error::{Error, Result, ValidationError, ValidationErrors};
pub use messages::{OutgoingMessage, Party, load_outgoing, mark_sent};
pub use rate::{RateLimiter, RateStatus, share_rates};
pub use receive::{FiledMail, IncomingMail, News, receive};
pub use requests::RequestedDocument;
pub use schema::MIGRATIONS;
pub use timeline::WokenBy;
