//! A mail on its way into an inbox, and what it became there.

use base::files::blobs::Blob;
use base::ids::{ConversationId, MessageId};
use mail::Mail;
use model::authentication::SenderAuthentication;

/// A mail and the durable bytes it is made of.
pub struct IncomingMail {
    pub mail: Mail,
    /// The raw mail; `None` for simulated mail.
    pub raw: Option<Blob>,
    /// One for each of the mail's attachments.
    pub attachments: Vec<Blob>,
    /// What authentication found; `None` where nothing was checked.
    pub authentication: Option<SenderAuthentication>,
    /// The conversation that it continues, where that is known without threading.
    pub joins: Option<ConversationId>,
    /// What it says ([`mail::content_hash`]); `None` for simulated mail.
    pub content_hash: Option<String>,
}

/// The conversation and message of a filed mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiledMail {
    pub conversation: ConversationId,
    pub message: MessageId,
}
