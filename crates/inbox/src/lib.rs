//! The domain of Mailroom: every operation, row, event and piece of due work.
//!
//! Each operation is one function and one transaction that loads, decides, writes and announces,
//! with the actor as an argument. Every entry point (REST, MCP, the app, the command line, mail) calls
//! the same functions, so a rule lives in one place.
//!
//! Deliberately absent: HTTP, sockets, the system clock inside operations.

pub mod actions;
pub mod api;
mod app;
pub mod base;
pub mod inbound;
pub mod jobs;
pub mod maintenance;
pub mod model;
mod schema;
mod search;

pub use api::calls::ApiCall;
pub use app::{App, Cx};
pub use base::error::{Error, OUTAGE_RETRY_SECONDS, Result, ValidationError, ValidationErrors};
pub use base::rate_limit::{RateLimiter, RateStatus, share_rates};
pub use inbound::incoming_mail::{FiledMail, IncomingMail};
pub use inbound::receive::{InboundAnnouncement, receive};
pub use model::attachments::{NewAttachment, OutgoingAttachment};
pub use model::authentication::{AuthenticationOutcome, SenderAuthentication};
pub use model::conversations::{Conversation, load as load_conversation};
pub use model::document_requests::RequestedDocument;
pub use model::documents::{DocumentFields, DocumentKind};
pub use model::drafts::ReplyResult;
pub use model::failed_messages::mark_failed;
pub use model::messages::{OutgoingMessage, load_outgoing, mark_sent, with_words};
pub use model::recipients::{Party, RecipientList};
pub use model::scheduling::MessageTimes;
pub use model::sealed_attachments::UnfitFile;
pub use model::timeline::{RetiredBy, StoredTimelineEvent, TargetKind, TimelineEvent, WokenBy};
pub use schema::MIGRATIONS;
pub use search::list::ConversationSummary;
pub use search::{
    Excerpt, OPERATORS, OperatorHelp, Query, QueryPart, QuerySwitch, excerpt, query_parts,
    query_switch,
};
