//! Simulated customers (API section 8.3): nothing of the sandbox leaves the service.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::MessageId;
use base::limits::SANDBOX_ANSWERS_AFTER_MS;
use base::string_enum::string_enum;
use bookings::offers;
use db::{Json, Tx};
use mail::{Address, Attachment, AuthorKind, Dmarc, Mail};
use model::conversations::timeline::{self, TimelineEvent};
use model::documents::pdf;
use model::messages::recipients::Party;
use model::messages::send_failure::SendFailure;
use outbound::failed_messages;
use outbound::messages::{self, OutgoingMessage};

/// How a simulated address reacts to mail, given by its local part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SimulatedBehaviour {
    Delivers,
    Bounces,
    Complains,
    Answers(Answer),
}

string_enum! {
    /// The kind of reply from a simulated customer. `opens` reads a secure message and answers nothing;
    /// `book` picks an offered time, and `book-cancel` then calls it off: `cancel-booking`, which no
    /// address has.
    Answer {
        Reply = "reply",
        Documents = "docs",
        OutOfOffice = "ooo",
        Opens = "opens",
        Book = "book",
        BookCancel = "book-cancel",
        CancelBooking = "cancel-booking",
    }
}

impl SimulatedBehaviour {
    fn of(email: &str) -> SimulatedBehaviour {
        let local = email.split(['+', '@']).next().unwrap_or("").to_ascii_lowercase();
        match local.as_str() {
            "bounce" => SimulatedBehaviour::Bounces,
            "complaint" => SimulatedBehaviour::Complains,
            local => Answer::parse(local)
                .filter(|answer| *answer != Answer::CancelBooking)
                .map_or(SimulatedBehaviour::Delivers, SimulatedBehaviour::Answers),
        }
    }
}

/// Delivers a message of the sandbox as its recipients' addresses say.
pub fn deliver(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MessageId) -> Result<()> {
    let (message, mut conversation) = messages::load_outgoing(tx, cx.actor, id)?;
    let recipients = recipients(tx, cx, &message)?;
    for email in &recipients {
        if SimulatedBehaviour::of(email) == SimulatedBehaviour::Bounces
            || has_complained(tx, cx, email)?
        {
            let failure = SendFailure::new("5.1.1", "", "");
            return failed_messages::mark_failed(tx, cx, &conversation, &message, &failure);
        }
    }
    messages::mark_sent(tx, cx, &mut conversation, &message)?;
    for email in &recipients {
        match SimulatedBehaviour::of(email) {
            SimulatedBehaviour::Delivers | SimulatedBehaviour::Bounces => {}
            SimulatedBehaviour::Complains => complain(tx, cx, &message, email)?,
            SimulatedBehaviour::Answers(Answer::Opens) if !message.secure => {}
            SimulatedBehaviour::Answers(Answer::Book | Answer::BookCancel)
                if offers::of_message(tx, cx.actor.ws, &message.id)?.is_none() => {}
            SimulatedBehaviour::Answers(answer) => plan_answer(tx, cx, &message.id, email, answer)?,
        }
    }
    Ok(())
}

fn recipients(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &OutgoingMessage,
) -> Result<Vec<EmailAddress>> {
    let (to, cc): (Json<Vec<Party>>, Json<Vec<Party>>) = tx.one(
        "SELECT to_list, cc_list FROM messages WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &message.id],
    )?;
    let everyone = to.iter().chain(cc.iter());
    Ok(everyone.map(|party| EmailAddress::new(&party.email)).collect())
}

fn has_complained(tx: &mut Tx<'_>, cx: &Cx<'_>, email: &str) -> Result<bool> {
    let found: Option<(String,)> = tx.opt(
        "SELECT email FROM sandbox_complaints WHERE ws = ?1 AND email = ?2",
        &[&cx.actor.ws, &email],
    )?;
    Ok(found.is_some())
}

fn complain(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &OutgoingMessage, email: &str) -> Result<()> {
    tx.exec_soon(
        "INSERT INTO sandbox_complaints (ws, email) VALUES (?1, ?2)
         ON CONFLICT (ws, email) DO NOTHING",
        &[&cx.actor.ws, &email],
    )?;
    let complaint = TimelineEvent::SpamComplaint { email: Some(email.to_owned()) };
    timeline::record(tx, cx, &message.conversation, &complaint)
}

/// Has a simulated customer react to a message in a few seconds.
pub fn plan_answer(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    email: &str,
    answer: Answer,
) -> Result<()> {
    tx.exec_soon(
        "INSERT INTO sandbox_replies (ws, message, email, kind, due_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ws, message, email) DO NOTHING",
        &[&cx.actor.ws, message, &email, &answer, &(cx.now + SANDBOX_ANSWERS_AFTER_MS)],
    )?;
    tx.wake(Queue::SandboxReplies);
    Ok(())
}

/// What a simulated customer writes, by mail or on a secure page.
pub const REPLY: &str = "Thank you, that answers my question.";

/// The mail that a simulated customer writes back.
pub fn answer_mail(
    answer: Answer,
    answers: &str,
    from: Address,
    inbox: &str,
    subject: &str,
) -> Mail {
    let (kind, text) = match answer {
        Answer::Reply
        | Answer::Opens
        | Answer::Book
        | Answer::BookCancel
        | Answer::CancelBooking => (AuthorKind::Person, REPLY),
        Answer::Documents => (AuthorKind::Person, "Here is the invoice you asked for."),
        Answer::OutOfOffice => {
            (AuthorKind::AutoReply, "I am out of the office and will answer when I am back.")
        }
    };
    let attachments = match answer {
        Answer::Documents => vec![Attachment {
            filename: "invoice.pdf".into(),
            content_type: "application/pdf".into(),
            bytes: invoice(),
        }],
        _ => Vec::new(),
    };
    Mail {
        message_id: Some(format!("{}.{answers}", answer.as_str())),
        answers: vec![answers.to_owned()],
        from,
        to: vec![Address::new(None, inbox)],
        cc: Vec::new(),
        delivered_to: inbox.to_owned(),
        subject: subject.to_owned(),
        text: text.into(),
        quoted: String::new(),
        kind,
        no_automatic_reply: kind == AuthorKind::AutoReply,
        dmarc: Dmarc::Pass,
        warning: None,
        attachments,
        has_html: false,
    }
}

/// The invoice that comes with an answer from `docs@…`.
pub fn invoice() -> Vec<u8> {
    pdf::sheet(
        "INVOICE",
        &[
            "Sample Supplies Ltd.",
            "12 Test Street, Example Town",
            "",
            "Invoice number  INV-2026-0042",
            "Invoice date    2026-11-02",
            "Due date        2026-12-02",
            "",
            "Description                   Quantity     Price      Amount",
            "Desk lamp, brass                     2     49.00       98.00",
            "Shipping                             1      7.50        7.50",
            "",
            "Net                                                   105.50",
            "VAT 20 %                                               21.10",
            "Total                                             EUR 126.60",
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_of_an_address_before_any_plus_says_what_it_does() {
        for (email, behaviour) in [
            ("delivered@shop.test", SimulatedBehaviour::Delivers),
            ("bounce@shop.test", SimulatedBehaviour::Bounces),
            ("bounce+17@x.test", SimulatedBehaviour::Bounces),
            ("complaint@shop.test", SimulatedBehaviour::Complains),
            ("reply+order-7@shop.test", SimulatedBehaviour::Answers(Answer::Reply)),
            ("Docs@shop.test", SimulatedBehaviour::Answers(Answer::Documents)),
            ("ooo@shop.test", SimulatedBehaviour::Answers(Answer::OutOfOffice)),
            ("someone+bounce@shop.test", SimulatedBehaviour::Delivers),
            ("replies@shop.test", SimulatedBehaviour::Delivers),
            ("book@shop.test", SimulatedBehaviour::Answers(Answer::Book)),
            ("book-cancel+7@shop.test", SimulatedBehaviour::Answers(Answer::BookCancel)),
            ("cancel-booking@shop.test", SimulatedBehaviour::Delivers),
            ("opens@shop.test", SimulatedBehaviour::Answers(Answer::Opens)),
        ] {
            assert_eq!(SimulatedBehaviour::of(email), behaviour, "{email}");
        }
    }
}
