//! The mail of a secure message: who wrote, from which firm, a link and until when; none of its words.
//!
//! Customers read these texts.

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MessageId};
use db::Tx;
use mail::{Address, MessageBody, PictureUrls};
use model::guests::secure;
use model::messages::mail_language::{self, salutation};
use model::messages::recipients::Party;
use model::times::local_times::LocalTimes;
use translation::t;

use crate::outgoing::mail_branding::MailBranding;
use crate::outgoing::message_body::{ComposedBody, StoredBody};

/// A mail for each recipient, with the link to their own page.
pub(crate) fn letters(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    stored: &StoredBody<'_>,
    recipients: &[Party],
) -> Result<Vec<(Address, ComposedBody)>> {
    type Sender = (Option<String>, String, Option<i64>, ConversationId);
    let ws = cx.actor.ws;
    let (author, firm, expires_at, conversation): Sender = tx.one(
        "SELECT m.from_name, w.name, s.expires_at, s.conversation
         FROM secure_messages s
         JOIN messages m ON m.ws = s.ws AND m.id = s.message
         JOIN workspaces w ON w.ws = s.ws
         WHERE s.ws = ?1 AND s.message = ?2",
        &[&ws, message],
    )?;
    let times = LocalTimes::of_conversation(tx, ws, &conversation)?;
    let reader = mail_language::of_conversation(tx, ws, &conversation)?;
    let branding = MailBranding::load(tx, ws, stored.domain)?;
    let branding = branding.in_language(reader.language().code());
    let until = reader.run(|| times.moment(expires_at.unwrap_or(cx.now)));
    let mut letters: Vec<(Address, ComposedBody)> = Vec::with_capacity(recipients.len());
    for party in recipients {
        let email = party.address();
        let Some(link) = secure::address(tx, cx, message, email.as_str())? else { continue };
        let about = LetterText {
            reader: party.name.as_deref(),
            author: author.as_deref(),
            firm: &firm,
            link: &link,
            until: &until,
        };
        let to = Address { name: party.name.clone(), email: party.email.clone() };
        if !letters.iter().any(|(known, _)| known.email == to.email) {
            letters.push((to, body(&reader.run(|| about.words()), stored, &branding)));
        }
    }
    Ok(letters)
}

/// What a folder of sent mail keeps of it.
pub(crate) fn without_link(
    tx: &mut Tx<'_>,
    ws: i64,
    stored: &StoredBody<'_>,
) -> Result<ComposedBody> {
    let words = "This message is kept on a protected page. Each recipient got a link of their own.";
    let branding = MailBranding::load(tx, ws, stored.domain)?;
    let body = body(words, stored, &branding);
    Ok(ComposedBody { inline: branding.files(), ..body })
}

fn body(words: &str, stored: &StoredBody<'_>, branding: &MailBranding) -> ComposedBody {
    let body = MessageBody {
        text: words,
        markdown: None,
        signature: stored.signature,
        earlier: None,
        pictures: PictureUrls { before: "", behind: "" },
        sections: &[],
        look: branding.look(),
    };
    ComposedBody {
        text: body.plain(),
        html: body.html(),
        inline: Vec::new(),
        attachments: Vec::new(),
    }
}

/// What the mail to one recipient says.
struct LetterText<'a> {
    reader: Option<&'a str>,
    author: Option<&'a str>,
    firm: &'a str,
    link: &'a str,
    until: &'a str,
}

impl LetterText<'_> {
    fn words(&self) -> String {
        let LetterText { firm, link, until, .. } = self;
        let author = match self.author.filter(|name| !name.is_empty() && name != firm) {
            Some(author) => t!("{author} of {firm}", author, firm),
            None => (*firm).to_owned(),
        };
        [
            salutation(self.reader),
            t!(
                "{author} has written to you. The message is kept on a protected page instead of in \
                 this mail.",
                author
            ),
            format!("{}\n{link}", t!("Read and answer it here:")),
            t!(
                "The page asks for a code. You get it at this address when you press \"{button}\" \
                 there. The page is open until {until}.",
                button = t!("Send me the code"),
                until
            ),
            t!("If you answer this mail instead, your answer travels as ordinary mail.").to_owned(),
        ]
        .join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mail_says_who_wrote_where_to_read_it_and_until_when() {
        let text = LetterText {
            reader: Some("Helena Osei"),
            author: Some("Marit Aalto"),
            firm: "Hallgren & Moss",
            link: "https://m.example/s/x",
            until: "12 December 2026, 10:42 (Berlin)",
        };
        let words = text.words();
        for part in [
            "Hello Helena Osei,\n",
            "Marit Aalto of Hallgren & Moss has written to you.",
            "here:\nhttps://m.example/s/x\n",
            "open until 12 December 2026, 10:42 (Berlin).",
            "travels as ordinary mail.",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
}
