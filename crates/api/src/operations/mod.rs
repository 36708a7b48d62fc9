//! The one table of operations. The REST routes, `openapi.json` and the MCP tool list are
//! renderings of it, so an operation that is in one and not in another cannot be written.

mod bookings;
mod conversations;
mod documents;
mod messages;
mod tool;
mod webhooks;
mod workspace;

use base::app::Cx;
use base::error::{Error, Result};
use base::security::scopes::{Scope, Scopes};
use db::Tx;
use model::documents::StoredFile;
use schemars::{Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fields::InputField;
use crate::wire::DocumentText;

pub use crate::operations::bookings::cancel_booking::{CancelBookingInput, cancel_booking};
pub use crate::operations::bookings::create_booking::{
    BookingAnswerInput, CreateBookingInput, create_booking,
};
pub use crate::operations::bookings::find_slots::{FindSlotsInput, find_slots};
pub use crate::operations::bookings::list_booking_types::list_booking_types;
pub use crate::operations::bookings::move_booking::{MoveBookingInput, move_booking};
pub use crate::operations::conversations::add_note::{AddNoteInput, add_note};
pub use crate::operations::conversations::assign_conversation::{
    AssignConversationInput, assign_conversation,
};
pub use crate::operations::conversations::list_conversations::{
    ListConversationsInput, OPERATION as LIST_CONVERSATIONS, count_conversations,
    list_conversations,
};
pub use crate::operations::conversations::list_tags::list_tags;
pub use crate::operations::conversations::list_topics::list_topics;
pub use crate::operations::conversations::merge_conversations::{
    MergeConversationsInput, merge_conversations,
};
pub use crate::operations::conversations::set_fields::{SetFieldsInput, set_fields};
pub use crate::operations::conversations::set_sorting::{SetSortingInput, set_sorting};
pub use crate::operations::conversations::set_status::{SetStatusInput, set_status};
pub use crate::operations::conversations::split_conversation::{
    SplitConversationInput, split_conversation,
};
pub use crate::operations::conversations::tag_conversation::{
    TagConversationInput, tag_conversation,
};
pub use crate::operations::documents::request_documents::{
    OPERATION as REQUEST_DOCUMENTS, RequestDocumentsInput, request_documents,
};
pub use crate::operations::documents::search_documents::{
    OPERATION as SEARCH_DOCUMENTS, SearchDocumentsInput, search_documents,
};
pub use crate::operations::messages::record_sent::{RecordSentInput, record_sent};
pub use crate::operations::messages::reply::{
    BookingOfferInput, DocumentItemInput, ReplyInput, reply,
};
pub use crate::operations::messages::start_conversation::{
    StartConversationInput, start_conversation,
};
pub use crate::operations::messages::stop_message::stop_message;
pub use crate::operations::workspace::get_reports::{GetReportsInput, get_reports};
pub use crate::operations::workspace::list_fields::list_fields;
pub use crate::operations::workspace::list_rules::list_rules;
pub use crate::operations::workspace::sandbox_inbound::{SandboxInboundInput, sandbox_inbound};
pub use crate::operations::workspace::set_contact_fields::set_contact_fields;
pub use search::list::{CountEffort, ListCount};
pub use tool::{Tool, with_tool};

/// Characters of an id in a body.
const CONVERSATION_ID_CHARS: usize = 104;

pub struct Operation {
    /// As a person would say it; also the OpenAPI operation id.
    pub name: &'static str,
    pub method: Method,
    /// Relative to the REST prefix; `{id}` is what stands before it, such as a conversation.
    pub path: &'static str,
    /// The MCP tool, where there is one.
    pub tool: Option<Tool>,
    pub scope: ScopeRule,
    pub access: Access,
    /// True when repeating the same request is harmless.
    pub idempotent: bool,
    pub title: &'static str,
    pub about: &'static str,
    /// The query of a GET, the body of a POST; none of a DELETE.
    pub fields: &'static [InputField],
    /// True when the body itself may be left out.
    pub body_optional: bool,
    /// The status code of success.
    pub success: u16,
    pub output: fn(&mut SchemaGenerator) -> Schema,
    pub example_input: &'static str,
    pub example_output: &'static str,
    pub run: fn(&mut Tx<'_>, &Cx<'_>, Value) -> Result<OperationOutput>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Get,
    Post,
    Delete,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        }
    }
}

/// The scope that a call needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScopeRule {
    Always(Scope),
    /// `send` when the input says `send: true`, `draft` otherwise.
    DraftOrSend,
    /// A scope of a test key.
    InSandbox(Scope),
}

impl ScopeRule {
    /// Known even when the rest of the input is not right.
    pub fn scope(self, input: &Value) -> Scope {
        match self {
            ScopeRule::Always(scope) | ScopeRule::InSandbox(scope) => scope,
            ScopeRule::DraftOrSend if input.get("send") == Some(&Value::Bool(true)) => Scope::Send,
            ScopeRule::DraftOrSend => Scope::Draft,
        }
    }

    /// True when a key of these scopes can make some call, though perhaps not every one.
    pub fn is_met_at_all(self, scopes: &Scopes) -> bool {
        match self {
            ScopeRule::Always(scope) | ScopeRule::InSandbox(scope) => scopes.has(scope),
            ScopeRule::DraftOrSend => scopes.has(Scope::Draft) || scopes.has(Scope::Send),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    /// A read of much, which a standby of the database may answer.
    ReadReplica,
    Write,
}

/// The result of an operation: JSON, and for a list the next cursor.
#[derive(Debug, Default)]
pub struct OperationOutput {
    pub body: Vec<u8>,
    pub next: Option<String>,
    /// How many things the whole list has, where that was asked for.
    pub count: Option<ListCount>,
    /// What a model must know before it reads the body.
    pub warning: Option<String>,
    /// True when the body holds a secret: where it is kept, it is sealed.
    pub has_secret: bool,
    /// A file that the server sends or reads before it answers.
    pub file: Option<FileOutput>,
}

/// What becomes of the file in an answer.
#[derive(Debug)]
pub enum FileOutput {
    /// It is sent as it is, in place of the JSON.
    Download(StoredFile),
    /// Its text is put into the answer, which is then the JSON.
    Text(DocumentText, Vec<u8>),
}

/// A page of a list.
pub struct ListPage<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

impl Operation {
    /// True when the answer is a file instead of JSON.
    pub fn is_download(&self) -> bool {
        self.path.ends_with("/file")
    }

    /// True when the server reads a file for the answer.
    pub fn reads_text(&self) -> bool {
        self.path.ends_with("/text")
    }

    /// True when the path names one thing.
    pub fn has_id(&self) -> bool {
        self.path.contains("{id}")
    }

    /// The id in a path of this operation's shape; `None` when the path has another shape.
    pub fn match_path(&self, path: &str) -> Option<Option<String>> {
        let Some((before, after)) = self.path.split_once("{id}") else {
            return (self.path == path).then_some(None);
        };
        let id = path.strip_prefix(before)?.strip_suffix(after)?;
        (!id.is_empty() && !id.contains('/')).then(|| Some(id.to_owned()))
    }

    /// True when an `Idempotency-Key` makes a repeat harmless.
    pub fn takes_idempotency_key(&self) -> bool {
        !self.idempotent
    }
}

pub fn find_by_name(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

pub static OPERATIONS: &[Operation] = &[
    workspace::me::OPERATION,
    workspace::help::OPERATION,
    conversations::list_conversations::OPERATION,
    conversations::get_conversation::OPERATION,
    workspace::get_contact::OPERATION,
    conversations::get_customer_panel::OPERATION,
    conversations::add_note::OPERATION,
    conversations::hand_over::OPERATION,
    conversations::set_status::OPERATION,
    conversations::set_sorting::OPERATION,
    conversations::set_fields::OPERATION,
    workspace::set_contact_fields::OPERATION,
    conversations::link_item::OPERATION,
    conversations::unlink_item::OPERATION,
    conversations::tag_conversation::OPERATION,
    conversations::assign_conversation::OPERATION,
    conversations::update_conversations::OPERATION,
    conversations::undo::OPERATION,
    conversations::merge_conversations::OPERATION,
    conversations::split_conversation::OPERATION,
    messages::reply::OPERATION,
    messages::start_conversation::OPERATION,
    documents::request_documents::OPERATION,
    workspace::list_mailboxes::OPERATION,
    workspace::list_rules::OPERATION,
    conversations::list_tags::OPERATION,
    workspace::list_team::OPERATION,
    conversations::list_topics::OPERATION,
    workspace::list_fields::OPERATION,
    workspace::search_answers::OPERATION,
    documents::search_documents::OPERATION,
    documents::download_document::OPERATION,
    documents::read_document::OPERATION,
    messages::record_sent::OPERATION,
    messages::list_messages::OPERATION,
    messages::update_draft::OPERATION,
    messages::discard_draft::OPERATION,
    messages::stop_message::OPERATION,
    messages::revoke_message::OPERATION,
    workspace::get_reports::OPERATION,
    bookings::list_booking_types::OPERATION,
    bookings::find_slots::OPERATION,
    bookings::list_bookings::OPERATION,
    bookings::create_booking::OPERATION,
    bookings::cancel_booking::OPERATION,
    bookings::move_booking::OPERATION,
    webhooks::list_webhooks::OPERATION,
    webhooks::create_webhook::OPERATION,
    webhooks::delete_webhook::OPERATION,
    workspace::list_calls::OPERATION,
    workspace::undo_agent::OPERATION,
    workspace::list_events::OPERATION,
    workspace::sandbox_inbound::OPERATION,
    workspace::pause_agent::OPERATION,
    workspace::resume_agent::OPERATION,
];

/// The input of an operation that only the path says something to.
#[derive(Clone, Debug, Deserialize)]
pub struct PathInput {
    pub id: String,
}

/// The checked input as the type its operation takes.
fn parse_input<T: serde::de::DeserializeOwned>(input: Value) -> Result<T> {
    serde_json::from_value(input).map_err(|error| Error::invalid("body", error.to_string()))
}

fn answer<T: Serialize>(value: &T) -> Result<OperationOutput> {
    Ok(OperationOutput { body: json_bytes(value), ..OperationOutput::default() })
}

fn page<T: Serialize>(page: ListPage<T>) -> Result<OperationOutput> {
    Ok(OperationOutput {
        body: json_bytes(&page.items),
        next: page.next,
        ..OperationOutput::default()
    })
}

fn json_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("wire types hold only what JSON can")
}

/// The place of the path's id in an operation's input.
pub fn with_id(mut input: Map<String, Value>, id: Option<&str>) -> Value {
    if let Some(id) = id {
        input.insert("id".into(), id.into());
    }
    Value::Object(input)
}
