//! The drafting helper in a test: answers, their use, and its drafts.

use actions::inboxes::drafting;
use actions::writing::answers::{self, AnswerInput};
use base::actor::Actor;
use base::error::Result;
use base::ids::{AnswerId, MessageId};
use inbound::incoming_mail::FiledMail;
use model::mailboxes::{DraftingMode, Mailbox};
use serde_json::Value;

use crate::{TestApp, TestKey, letter};

/// A question, and the same in other words.
pub const FEE_QUESTION: &str =
    "My monthly fee was charged twice this month. Can you send the second debit back to me?";
pub const FEE_QUESTION_AGAIN: &str =
    "The monthly fee was charged twice this month, can you send the second debit back please?";
/// The team's answer to it, and the same as somebody sent it.
pub const FEE_ANSWER: &str = "Hello {{first_name|there}}, when a monthly fee is debited two times, the second debit goes \
     back to the account it came from. It arrives within five bank days.";
pub const FEE_REPLY: &str = "Hello Ann, when a monthly fee is debited two times, the second debit goes back to the account \
     it came from. It arrives within five bank days.";

impl TestApp {
    /// Switches drafting of an inbox.
    pub async fn set_drafting(&self, by: &Actor, mailbox: &Mailbox, mode: DraftingMode) {
        let id = mailbox.id.clone();
        self.act(by, move |tx, cx| drafting::set_drafting(tx, cx, &id, mode, 200)).await;
    }

    /// Adds an answer for all inboxes of the team.
    pub async fn answer(&self, title: &str, body: &str) -> AnswerId {
        let input =
            AnswerInput { title: title.into(), body: body.into(), ..AnswerInput::default() };
        self.try_answer(&self.owner, input).await.unwrap()
    }

    pub async fn try_answer(&self, by: &Actor, input: AnswerInput) -> Result<AnswerId> {
        self.app.act(by, move |tx, cx| answers::add_answer(tx, cx, &input)).await
    }

    /// A mail to an inbox, and what the helper does about it.
    pub async fn mail_to(&self, mailbox: &Mailbox, from: &str, text: &str) -> FiledMail {
        let mail = self.deliver(mailbox, letter(from, &format!("Question of {from}"), text)).await;
        self.work().await;
        mail
    }

    /// Replies to the fee question with the fee answer, so that the helper learns its use.
    pub async fn teach_fee_answer(&self, key: &TestKey) -> FiledMail {
        let mail = self.mail_to(&self.support, "ann@x.example Ann", FEE_QUESTION).await;
        self.send_reply(key, &mail.conversation, FEE_REPLY).await;
        self.work().await;
        mail
    }

    /// The drafts that wait in a conversation.
    pub async fn drafts_in(&self, key: &TestKey, mail: &FiledMail) -> Vec<Value> {
        let messages = self.timeline(key, &mail.conversation, "message").await;
        messages.into_iter().filter(|message| message["status"] == "draft").collect()
    }

    /// Approves a draft as it stands, or with another text.
    pub async fn approve(&self, by: &Actor, draft: &Value, text: Option<&str>) {
        let id = MessageId::parse(draft["id"].as_str().unwrap()).unwrap();
        let text = text.map_or_else(|| draft["text"].as_str().unwrap().to_owned(), str::to_owned);
        self.act(by, move |tx, cx| {
            let (message, _) = outbound::messages::load_outgoing(tx, cx.actor, &id)?;
            crate::approve_draft(tx, cx, &id, message.revision, &text)
        })
        .await;
    }
}
