//! The body of a message as it leaves: its text and HTML with the signature and the earlier mail, the
//! pictures in the text, and the attachments.

use base::app::Cx;
use base::error::Result;
use base::ids::{AttachmentId, ConversationId, MessageId};
use db::{Json, Tx};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use mail::{
    Address, Attachment, EarlierWords, InlineFile, InlinePicture, MessageBody, PictureUrls,
    QuotedMail, QuotedMailRole,
};
use model::messages::recipients::Party;
use model::messages::{attachments, mail_language, originals};
use model::times::calendar_words::{short_month, short_weekday};
use translation::{Reader, t};

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
    let mut forwarded_pictures = Vec::new();
    let earlier = match (stored.forwards, stored.quotes) {
        (Some(id), _) => {
            let found = earlier_mail(tx, cx, stored.conversation, id, QuotedMailRole::Forwarded)?;
            found.map(|(mut earlier, raw)| {
                if let Some(forwarded) =
                    raw.and_then(|raw| mail::forwarded_html(&raw, stored.domain))
                {
                    earlier.html = Some(forwarded.html);
                    forwarded_pictures = forwarded.pictures;
                }
                earlier
            })
        }
        (None, Some(id)) => {
            let found = earlier_mail(tx, cx, stored.conversation, id, QuotedMailRole::Answered)?;
            found.map(|(earlier, _)| earlier)
        }
        (None, None) => None,
    };
    let behind = format!("@{}", stored.domain);
    let body = MessageBody {
        text: stored.text,
        markdown: stored.markdown,
        signature: stored.signature,
        earlier: earlier.as_ref(),
        pictures: PictureUrls { before: "cid:", behind: &behind },
    };
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
    let inline = inline.chain(forwarded_pictures.into_iter().map(forwarded_file));
    Ok(ComposedBody {
        text: body.plain(),
        html: body.html(),
        inline: inline.collect(),
        attachments: attached.into_iter().map(|(_, file)| file).collect(),
    })
}

/// A picture of a mail that is passed on, named after its Content-ID.
fn forwarded_file((content_id, picture): (String, InlinePicture)) -> InlineFile {
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
    }
}

/// An answered mail is quoted without the history in it; one that is passed on goes as it came, with
/// its bytes where they are kept.
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
    let (text, raw) = match (role, &found.raw_hash) {
        (QuotedMailRole::Answered, _) => (found.text, None),
        (QuotedMailRole::Forwarded, hash) => {
            let text = originals::whole_text(tx, cx, id, hash.as_deref())?;
            let raw = match hash {
                Some(hash) => cx.blobs.get(tx, cx.actor.ws, hash)?,
                None => None,
            };
            (text, raw)
        }
    };
    let from = Address { name: found.from_name, email: found.from_email };
    let reader = match role {
        QuotedMailRole::Answered => mail_language::of_conversation(tx, cx.actor.ws, conversation)?,
        // To whom it is passed on, and in which language they read, is not known.
        QuotedMailRole::Forwarded => Reader::default(),
    };
    let words = reader.run(|| earlier_words(&from, found.at));
    let earlier = QuotedMail {
        role,
        from,
        at: found.at,
        to: found.to_list.0.into_iter().map(address).collect(),
        cc: found.cc_list.0.into_iter().map(address).collect(),
        subject: found.subject,
        text,
        html: None,
        words,
    };
    Ok(Some((earlier, raw)))
}

/// The words around an earlier mail. Its time is in UTC: nobody knows the recipient's clock.
fn earlier_words(from: &Address, at: i64) -> EarlierWords {
    let at = Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(TimeZone::UTC);
    EarlierWords {
        answered: t!(
            "On {weekday}, {day} {month} {year} at {clock} UTC, {author} wrote:",
            weekday = short_weekday(at.weekday()),
            day = at.day(),
            month = short_month(at.month()),
            year = at.year(),
            clock = at.strftime("%H:%M"),
            author = mail::shown_address(from),
        ),
        left_out: t!("[The rest is left out.]").to_owned(),
    }
}
