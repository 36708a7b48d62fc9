//! What came by a contact form, beside the message itself.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{ContactFormId, ConversationId, MessageId};
use base::limits::FORM_STRANGERS_MS;
use base::string_enum::string_enum;
use db::{Json, Tx};
use model::guests::guest_forms::GuestFormId;
use model::guests::guest_tokens::GuestTokenHash;
use serde::{Deserialize, Serialize};

use crate::forms::ContactForm;

/// Posts of a form that are counted.
const COUNTED: i64 = 10_000;

/// What was typed into a field of a form, with its label at that time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormAnswer {
    pub key: String,
    pub label: String,
    pub value: FormAnswerValue,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FormAnswerValue {
    /// Whether a box was ticked.
    Consent(bool),
    Text(String),
}

string_enum! {
    /// Whether the address of a post is proven.
    PostProof {
        // Nobody asked for it.
        Unasked = "unasked",
        // A code was or can be mailed.
        Asked = "asked",
        Proven = "proven",
    }
}

db::row! {
    /// The form that a conversation came by.
    #[derive(Clone, Debug)]
    pub struct FormSource from "p" {
        /// The form's slug at that time.
        pub form: String,
        /// The address of the page that it was opened from; empty where that is not known.
        pub page: String,
        pub proof: PostProof,
        pub answers: Json<Vec<FormAnswer>>,
    }
}

impl FormSource {
    pub fn is_proven(&self) -> bool {
        self.proof == PostProof::Proven
    }
}

db::row! {
    /// A post as its own page goes on with it.
    #[derive(Clone, Debug)]
    pub struct FiledPost from "p" {
        pub message: MessageId,
        pub conversation: ConversationId,
        pub proof: PostProof,
        /// The right code releases it.
        pub opens: bool,
        pub email: EmailAddress = "m.from_email",
        pub name: Option<String> = "m.from_name",
        /// What was written, by which it is told from other words of the same page.
        pub content_hash: Option<String> = "m.content_hash",
    }
}

/// What is kept of a post.
pub struct NewPost<'a> {
    pub form: &'a ContactForm,
    /// The page that it was sent from.
    pub stamp: &'a GuestFormId,
    pub page: &'a str,
    pub answers: &'a [FormAnswer],
    pub proof: PostProof,
    pub opens: bool,
    /// It came in without a mark.
    pub unmarked: bool,
}

fn stamp_hash(stamp: &GuestFormId) -> GuestTokenHash {
    stamp.hash("contact form post")
}

/// Notes the form that a message came by.
pub fn note(
    tx: &mut Tx<'_>,
    (ws, now): (i64, i64),
    (conversation, message): (&ConversationId, &MessageId),
    post: &NewPost<'_>,
) -> Result<()> {
    tx.exec_soon(
        "INSERT INTO form_posts (
            ws, message, conversation, form_id, form, page, answers, at, stamp, proof, opens, unmarked
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (ws, message) DO NOTHING",
        &[
            &ws,
            message,
            conversation,
            &post.form.id,
            &post.form.slug,
            &post.page,
            &Json(post.answers),
            &now,
            &stamp_hash(post.stamp),
            &post.proof,
            &post.opens,
            &post.unmarked,
        ],
    )?;
    Ok(())
}

/// How much came by a form lately, up to a number that nobody counts by hand.
pub fn count_latest(tx: &mut Tx<'_>, cx: &Cx<'_>, form: &ContactFormId) -> Result<i64> {
    let (count,): (i64,) = tx.one(
        "SELECT CAST(count(*) AS BIGINT) FROM (
             SELECT 1 FROM form_posts WHERE ws = ?1 AND form_id = ?2 AND at > ?3 LIMIT ?4
         ) AS latest",
        &[&cx.actor.ws, form, &(cx.now - FORM_STRANGERS_MS), &COUNTED],
    )?;
    Ok(count)
}

/// What a page has sent before.
pub fn sent_from(
    tx: &mut Tx<'_>,
    ws: i64,
    form: &ContactFormId,
    stamp: &GuestFormId,
) -> Result<Option<FiledPost>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM form_posts p JOIN messages m ON m.ws = p.ws AND m.id = p.message
             WHERE p.ws = ?1 AND p.stamp = ?2 AND p.form_id = ?3",
            FiledPost::COLUMNS
        ),
        &[&ws, &stamp_hash(stamp), form],
    )?)
}

/// Whoever wrote a post has entered the code.
pub fn mark_proven(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<()> {
    tx.exec_soon(
        "UPDATE form_posts SET proof = 'proven', unmarked = FALSE WHERE ws = ?1 AND message = ?2",
        &[&ws, message],
    )?;
    Ok(())
}

/// The form that the first message of a conversation came by that came by any.
pub fn of_conversation(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
) -> Result<Option<FormSource>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM form_posts p WHERE p.ws = ?1 AND p.conversation = ?2
             ORDER BY p.message LIMIT 1",
            FormSource::COLUMNS
        ),
        &[&ws, conversation],
    )?)
}
