//! What somebody writes on a contact form, filed as if a mail had come from the address that they gave.

use base::app::Cx;
use base::error::{Error, Result};
use base::files::blobs::Blob;
use base::limits::RISK_REASONS;
use contact_forms::posts::{self, FiledPost, FormAnswer, FormAnswerValue, NewPost, PostProof};
use contact_forms::{ContactForm, FormProof, strangers};
use db::Tx;
use mail::{
    Address, Attachment, Authentication, AuthorKind, Dmarc, Mail, ParsedMail, Risk, Warning,
};
use model::authentication::SenderAuthentication;
use model::contacts::{self, ContactEvidence};
use model::conversations;
use model::guests::guest_forms::GuestFormId;
use model::mailboxes::{self, Mailbox};
use model::messages::recipients::Party;

use super::form_answers;
use crate::duplicates::simulated_hash;
use crate::incoming_mail::IncomingMail;
use crate::receive;
use crate::risk;
use crate::routes;

/// A form as it was sent, after its page has checked it.
#[derive(Clone)]
pub struct FormPost {
    /// The page that it was sent from: what one page sends twice with the same content is filed once.
    pub id: GuestFormId,
    pub name: String,
    pub email: String,
    pub message: String,
    pub answers: Vec<FormAnswer>,
    /// Checked, with the blobs that hold their bytes.
    pub files: Vec<(Attachment, Blob)>,
    /// The address of the page that the form was opened from; empty where that is not known.
    pub page: String,
    pub doubts: Vec<FormDoubt>,
}

/// Why somebody of the team looks at it before it counts. Nothing is dropped: a person may have sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormDoubt {
    /// A field that nobody sees was filled in.
    Trap,
    TooFast,
    ManyLinks,
    ManyPosts,
    /// Strangers wrote more than the team has looked at.
    ManyStrangers,
    /// The form asks for a code.
    Unproven,
}

impl FormDoubt {
    const ALL: [FormDoubt; 6] = [
        FormDoubt::Trap,
        FormDoubt::TooFast,
        FormDoubt::ManyLinks,
        FormDoubt::ManyPosts,
        FormDoubt::ManyStrangers,
        FormDoubt::Unproven,
    ];

    /// True for the reason of a doubt, and not of the scam check.
    fn is_reason(text: &str) -> bool {
        FormDoubt::ALL.iter().any(|doubt| doubt.reason() == text)
    }

    fn reason(self) -> &'static str {
        match self {
            FormDoubt::Trap => "A field of the form that nobody sees was filled in.",
            FormDoubt::TooFast => "The form was sent faster than people write.",
            FormDoubt::ManyLinks => "It has many links, as advertising has.",
            FormDoubt::ManyPosts => "Many messages came by the form within a short time.",
            FormDoubt::ManyStrangers => {
                "Many strangers wrote by the form whom nobody has answered, and this one has not proven \
                 the address."
            }
            FormDoubt::Unproven => "The address has not been proven by a code yet.",
        }
    }
}

/// A post that is filed, and the page that its next steps belong to.
pub struct ReceivedPost {
    pub post: FiledPost,
    pub page: GuestFormId,
}

/// Files a form as a conversation of its own: nothing proves the address, so it joins none of those that
/// the address has, and nothing is sent there before somebody of the team writes, but a code where the
/// form asks for one.
pub fn receive_post(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    form: &ContactForm,
    post: &FormPost,
) -> Result<ReceivedPost> {
    let missing = || Error::NotFound("page");
    let mailbox = mailboxes::seen_by(tx, cx.actor, &form.mailbox)?.ok_or_else(missing)?;
    let (mailbox, actor) = routes::as_it_is(tx, cx.actor, &mailbox)?.ok_or_else(missing)?;
    let cx = &Cx { actor: &actor, ..*cx };
    let unproven = Authentication::default();
    let (mail, found) = mail_of(tx, cx, &mailbox, form, post, &unproven)?;
    let mut incoming = IncomingMail {
        mail,
        raw: None,
        attachments: post.files.iter().map(|(_, blob)| blob.clone()).collect(),
        authentication: Some(SenderAuthentication::from(&unproven)),
        joins: None,
        content_hash: None,
    };
    let page = match page_of(tx, cx, form, &post.id, &simulated_hash(&incoming))? {
        (page, Some(earlier)) => return Ok(ReceivedPost { post: earlier, page }),
        (page, None) => page,
    };
    // Mail is put off then; the page keeps what was typed.
    if !quotas::takes_mail(tx, cx.actor.ws)? {
        return Err(Error::ClosedForNow);
    }
    let mut doubts = post.doubts.clone();
    doubts.extend(doubt_of_stranger(tx, cx, form)?);
    let is_scam = found.as_ref().is_some_and(|warning| warning.hold);
    incoming.mail.warning = add_doubts(found, &doubts);
    incoming.mail.message_id = Some(message_id(&page, &mailbox));
    let filed = receive::receive(tx, cx, &mailbox, &incoming)?;
    let asks = !doubts.is_empty() && form.proof != FormProof::Never;
    let new = NewPost {
        form,
        stamp: &page,
        page: &post.page,
        answers: &post.answers,
        proof: if asks { PostProof::Asked } else { PostProof::Unasked },
        opens: asks && !is_scam,
        unmarked: doubts.is_empty() && incoming.mail.warning.is_none(),
    };
    posts::note(tx, (cx.actor.ws, cx.now), (&filed.conversation, &filed.message), &new)?;
    form_answers::take(tx, cx, form, &filed.conversation, &post.answers)?;
    let sent = posts::sent_from(tx, cx.actor.ws, &form.id, &page)?;
    Ok(ReceivedPost { post: sent.ok_or_else(missing)?, page })
}

/// The page under which a post with this content is filed, with the post where it is filed already. Whoever goes back to
/// a form to correct it sends the same page again with other words, which are a post of their own.
fn page_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    form: &ContactForm,
    page: &GuestFormId,
    content_hash: &str,
) -> Result<(GuestFormId, Option<FiledPost>)> {
    let ws = cx.actor.ws;
    let first = posts::sent_from(tx, ws, &form.id, page)?;
    let is_same =
        |earlier: &FiledPost| earlier.content_hash.as_deref().is_none_or(|it| it == content_hash);
    if first.as_ref().is_none_or(is_same) {
        return Ok((page.clone(), first));
    }
    let other = page.with_content(content_hash);
    let earlier = posts::sent_from(tx, ws, &form.id, &other)?;
    Ok((other, earlier))
}

fn message_id(page: &GuestFormId, mailbox: &Mailbox) -> String {
    format!("form.{}@{}", page.as_str(), mailbox.address.message_id_domain())
}

/// Whether the form asks everybody for a code, or strangers write more than the team looks at.
fn doubt_of_stranger(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    form: &ContactForm,
) -> Result<Option<FormDoubt>> {
    if form.proof == FormProof::Always {
        return Ok(Some(FormDoubt::Unproven));
    }
    let has_room = strangers::have_room(tx, cx.actor.ws, &form.id, cx.now)?;
    Ok((!has_room).then_some(FormDoubt::ManyStrangers))
}

/// Whoever wrote a post has entered the code that was mailed to the address: what was held only because
/// nobody had proven it is released. Where more came into the conversation since, a person looks at it.
pub fn prove_post(tx: &mut Tx<'_>, cx: &Cx<'_>, post: &FiledPost) -> Result<()> {
    posts::mark_proven(tx, cx.actor.ws, &post.message)?;
    let mut conversation = conversations::load(tx, cx.actor, post.conversation.as_str())?;
    let party = Party { name: post.name.clone(), email: post.email.to_string() };
    if !post.opens {
        return Ok(());
    }
    // What the scam check found stands first, and a proven address says nothing about it.
    if conversation.held
        && receive::release_proven(tx, cx, &mut conversation, &post.message)?
        && conversation.risk_reasons.0.first().is_none_or(|reason| FormDoubt::is_reason(reason))
    {
        conversations::clear_risk(tx, cx, &mut conversation)?;
    }
    contacts::note(tx, cx, &conversation.circle, &party, ContactEvidence::Proven)
}

/// The mail that a post is filed as, and what the scam check found in it.
fn mail_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    form: &ContactForm,
    post: &FormPost,
    unproven: &Authentication,
) -> Result<(Mail, Option<Warning>)> {
    let text = whole_text(post);
    let from = Address::new(Some(&post.name), &post.email);
    let parsed = ParsedMail {
        from: Some(from.clone()),
        subject: form.title.clone(),
        text: text.clone(),
        original: text.clone(),
        ..ParsedMail::default()
    };
    let found = risk::warning(tx, cx.actor, cx.sorters, mailbox, &parsed, unproven)?;
    let mail = Mail {
        message_id: Some(message_id(&post.id, mailbox)),
        answers: Vec::new(),
        from,
        to: vec![Address::new(None, mailbox.address.as_str())],
        cc: Vec::new(),
        delivered_to: mailbox.address.as_str().to_owned(),
        subject: form.title.clone(),
        text,
        quoted: String::new(),
        kind: AuthorKind::Person,
        no_automatic_reply: true,
        // Threading lets such a mail join nothing.
        dmarc: Dmarc::Fail,
        warning: None,
        attachments: post.files.iter().map(|(file, _)| file.clone()).collect(),
        has_html: false,
    };
    Ok((mail, found))
}

/// The message, and below it what was typed into the form's own fields.
fn whole_text(post: &FormPost) -> String {
    let line = |answer: &FormAnswer| match &answer.value {
        FormAnswerValue::Consent(true) => Some(format!("[x] {}", answer.label)),
        FormAnswerValue::Consent(false) => None,
        FormAnswerValue::Text(text) => Some(format!("{}: {text}", answer.label)),
    };
    let lines: Vec<String> = post.answers.iter().filter_map(line).collect();
    let gap = if lines.is_empty() { "" } else { "\n\n" };
    mail::clean_text(&format!("{}{gap}{}", post.message.trim(), lines.join("\n")))
}

fn add_doubts(found: Option<Warning>, doubts: &[FormDoubt]) -> Option<Warning> {
    if doubts.is_empty() {
        return found;
    }
    let (risk, mut reasons) =
        found.map_or((Risk::Suspicious, Vec::new()), |warning| (warning.risk, warning.reasons));
    reasons.extend(doubts.iter().map(|doubt| doubt.reason().to_owned()));
    reasons.truncate(RISK_REASONS);
    Some(Warning { risk, reasons, hold: true })
}

#[cfg(test)]
mod tests {
    use base::ids::Ids;

    use super::*;

    #[test]
    fn the_text_of_a_form_has_the_message_first_and_then_its_fields() {
        let answer = |label: &str, value| FormAnswer {
            key: label.to_lowercase(),
            label: label.to_owned(),
            value,
        };
        let mut post = FormPost {
            id: GuestFormId::new(&Ids::with_seed(1)),
            name: "Ann".into(),
            email: "ann@shop.example".into(),
            message: " Where is it?\r\n".into(),
            answers: Vec::new(),
            files: Vec::new(),
            page: String::new(),
            doubts: Vec::new(),
        };
        assert_eq!(whole_text(&post), "Where is it?");
        post.answers = vec![
            answer("Order", FormAnswerValue::Text("A-1".into())),
            answer("I agree", FormAnswerValue::Consent(true)),
            answer("News", FormAnswerValue::Consent(false)),
        ];
        assert_eq!(whole_text(&post), "Where is it?\n\nOrder: A-1\n[x] I agree");
    }

    #[test]
    fn a_doubt_holds_and_keeps_what_the_scam_check_found() {
        assert_eq!(add_doubts(None, &[]), None);
        let held = add_doubts(None, &[FormDoubt::Trap]).expect("a warning");
        assert!(held.hold && held.risk == Risk::Suspicious && held.reasons.len() == 1);
        let reasons = vec!["one".to_owned(), "two".to_owned()];
        let found = Warning { risk: Risk::Scam, reasons, hold: false };
        let held = add_doubts(Some(found), &[FormDoubt::TooFast, FormDoubt::ManyLinks]);
        let held = held.expect("a warning");
        assert!(held.hold && held.risk == Risk::Scam && held.reasons.len() == RISK_REASONS);
        assert_eq!(held.reasons[0], "one");
    }
}
