//! The body of a message as it leaves: its text and HTML with the signature and the earlier mail, the
//! pictures in the text, and the attachments.
//!
//! Customers read these texts.

use base::app::Cx;
use base::error::Result;
use base::ids::{AttachmentId, ConversationId, MessageId, RequestId};
use bookings::offers;
use db::{Json, Tx};
use jiff::Timestamp;
use mail::{
    Address, Attachment, EarlierWords, InlineFile, InlinePicture, MailSection, MessageBody,
    PictureUrls, QuotedMail, QuotedMailRole,
};
use model::documents::document_requests;
use model::messages::recipients::Party;
use model::messages::{attachments, mail_language, originals};
use model::times::calendar_words::{short_month, short_weekday};
use model::times::local_times::LocalTimes;
use translation::{Reader, t};

use crate::outgoing::mail_branding::MailBranding;

/// Bytes of a mail, files included, that is quoted as it looked; a larger one is quoted by its text.
const QUOTED_MAIL_BYTES: i64 = 4 * 1024 * 1024;

/// The columns of a message that its body is made from.
pub(crate) struct StoredBody<'a> {
    pub conversation: &'a ConversationId,
    /// The domain of the sender, for the Content-IDs of pictures.
    pub domain: &'a str,
    pub text: &'a str,
    pub markdown: Option<&'a str>,
    pub signature: &'a str,
    pub quotes: Option<&'a MessageId>,
    pub forwards: Option<&'a MessageId>,
    /// The documents that it asks for.
    pub request: Option<&'a RequestId>,
}

pub(crate) struct ComposedBody {
    pub text: String,
    pub html: String,
    pub inline: Vec<InlineFile>,
    pub attachments: Vec<Attachment>,
}

pub(crate) fn of_message(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    stored: &StoredBody<'_>,
) -> Result<ComposedBody> {
    let ws = cx.actor.ws;
    let (earlier, earlier_pictures) = quoted_below(tx, cx, stored)?;
    let sections = sections(tx, cx, message, stored)?;
    let branding = MailBranding::load(tx, ws, stored.domain)?;
    let branding = match language_code(tx, ws, stored.conversation)? {
        Some(code) => branding.in_language(&code),
        None => {
            let reader = mail_language::of_conversation(tx, ws, stored.conversation)?;
            branding.in_direction_of(reader.language())
        }
    };
    let behind = format!("@{}", stored.domain);
    let body = MessageBody {
        text: stored.text,
        markdown: stored.markdown,
        signature: stored.signature,
        earlier: earlier.as_ref(),
        pictures: PictureUrls { before: "cid:", behind: &behind },
        sections: &sections,
        look: branding.look(),
    };
    let (text, html) = (body.plain(), body.html());
    let files = attachments::of_message(tx, cx.blobs, ws, stored.conversation, message)?;
    let shown = stored.markdown.map(mail::markdown_pictures).unwrap_or_default();
    let is_shown = |(id, file): &(AttachmentId, Attachment)| {
        file.content_type.starts_with("image/") && shown.iter().any(|shown| shown == id.as_str())
    };
    let (inline, attached): (Vec<_>, Vec<_>) = files.into_iter().partition(is_shown);
    let inline = inline.into_iter().map(|(id, file)| {
        let content_id = format!("{id}{behind}");
        InlineFile { content_id, file }
    });
    let inline = inline.chain(earlier_pictures.into_iter().map(picture_file));
    Ok(ComposedBody {
        text,
        html,
        inline: inline.chain(branding.files()).collect(),
        attachments: attached.into_iter().map(|(_, file)| file).collect(),
    })
}

/// The mail that stands below a message, and the pictures that come with it by their Content-IDs.
type QuotedBelow = (Option<QuotedMail>, Vec<(String, InlinePicture)>);

fn quoted_below(tx: &mut Tx<'_>, cx: &Cx<'_>, stored: &StoredBody<'_>) -> Result<QuotedBelow> {
    let (id, role) = match (stored.forwards, stored.quotes) {
        (Some(id), _) => (id, QuotedMailRole::Forwarded),
        (None, Some(id)) => (id, QuotedMailRole::Answered),
        (None, None) => return Ok((None, Vec::new())),
    };
    let Some((mut earlier, raw)) = earlier_mail(tx, cx, stored.conversation, id, role)? else {
        return Ok((None, Vec::new()));
    };
    let shown = raw.and_then(|raw| match role {
        QuotedMailRole::Forwarded => mail::forwarded_html(&raw, stored.domain),
        QuotedMailRole::Answered => mail::quoted_html(&raw, stored.domain),
    });
    let Some(shown) = shown else { return Ok((Some(earlier), Vec::new())) };
    (earlier.html, earlier.is_shortened) = (Some(shown.html), shown.is_shortened);
    Ok((Some(earlier), shown.pictures))
}

/// The parts of the text that the HTML shows as tables: the checklist, and the times to pick from.
fn sections(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    stored: &StoredBody<'_>,
) -> Result<Vec<MailSection>> {
    let mut sections = Vec::new();
    if let Some(request) = stored.request {
        sections.extend(document_requests::mail_section(tx, cx, request, stored.text)?);
    }
    sections.extend(offers::mail_section(tx, cx, message, stored.text)?);
    Ok(sections)
}

/// The code of the language of a conversation, where it is known.
fn language_code(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &ConversationId,
) -> Result<Option<String>> {
    let (code,): (Option<String>,) = tx.one(
        "SELECT language FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&ws, conversation],
    )?;
    Ok(code)
}

/// A picture of an earlier mail, named after its Content-ID.
fn picture_file((content_id, picture): (String, InlinePicture)) -> InlineFile {
    let name = content_id.split('@').next().unwrap_or_default();
    let kind = picture.content_type.rsplit('/').next().unwrap_or_default();
    let file = Attachment {
        filename: format!("{name}.{kind}"),
        content_type: picture.content_type.to_owned(),
        bytes: picture.bytes,
    };
    InlineFile { content_id, file }
}

db::row! {
    struct EarlierRow from "m" {
        from_name: Option<String>,
        from_email: String,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
        at: i64,
        subject: String,
        text: String,
        raw_hash: Option<String>,
        has_html: bool,
    }
}

/// An earlier mail with its bytes, where they are kept. The text of an answered one is without the history in it;
/// one that is passed on goes as it came.
fn earlier_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
    id: &MessageId,
    role: QuotedMailRole,
) -> Result<Option<(QuotedMail, Option<Vec<u8>>)>> {
    let found: Option<EarlierRow> = tx.opt(
        &format!(
            "SELECT {} FROM messages m WHERE m.ws = ?1 AND m.id = ?2 AND m.conversation = ?3",
            EarlierRow::COLUMNS
        ),
        &[&cx.actor.ws, id, conversation],
    )?;
    let Some(found) = found else { return Ok(None) };
    let address = |party: Party| Address { name: party.name, email: party.email };
    let text = match role {
        QuotedMailRole::Answered => found.text,
        QuotedMailRole::Forwarded => originals::whole_text(tx, cx, id, found.raw_hash.as_deref())?,
    };
    let raw = match (&found.raw_hash, role) {
        (Some(hash), QuotedMailRole::Forwarded) => cx.blobs.get(tx, cx.actor.ws, hash)?,
        (Some(hash), QuotedMailRole::Answered) if found.has_html => quoted_bytes(tx, cx, hash)?,
        _ => None,
    };
    let from = Address { name: found.from_name, email: found.from_email };
    let reader = match role {
        QuotedMailRole::Answered => mail_language::of_conversation(tx, cx.actor.ws, conversation)?,
        // To whom it is passed on, and in which language they read, is not known.
        QuotedMailRole::Forwarded => Reader::default(),
    };
    let times = LocalTimes::of_conversation(tx, cx.actor.ws, conversation)?;
    let words = reader.run(|| earlier_words(&from, &times, found.at));
    let earlier = QuotedMail {
        role,
        from,
        at: found.at,
        to: found.to_list.0.into_iter().map(address).collect(),
        cc: found.cc_list.0.into_iter().map(address).collect(),
        subject: found.subject,
        text,
        html: None,
        is_shortened: false,
        words,
    };
    Ok(Some((earlier, raw)))
}

/// The bytes of a mail that is answered; `None` for one that is quoted by its text, because it is large.
fn quoted_bytes(tx: &mut Tx<'_>, cx: &Cx<'_>, hash: &str) -> Result<Option<Vec<u8>>> {
    let ws = cx.actor.ws;
    let found: Option<(i64,)> =
        tx.opt("SELECT size FROM blobs WHERE ws = ?1 AND hash = ?2", &[&ws, &hash])?;
    match found {
        Some((size,)) if size <= QUOTED_MAIL_BYTES => cx.blobs.get(tx, ws, hash),
        _ => Ok(None),
    }
}

/// The words around an earlier mail.
fn earlier_words(from: &Address, times: &LocalTimes, at: i64) -> EarlierWords {
    let clock = times.clock(at);
    let at = Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(times.zone.clone());
    EarlierWords {
        answered: t!(
            "On {weekday}, {day} {month} {year} at {clock}, {author} wrote:",
            weekday = short_weekday(at.weekday()),
            day = at.day(),
            month = short_month(at.month()),
            year = at.year(),
            clock,
            author = mail::shown_address(from),
        ),
        left_out: t!("[The rest is left out.]").to_owned(),
    }
}
