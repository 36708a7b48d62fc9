//! What all signals look at, read once: folded words, the sender's domain, where links lead.

use url::Url;

use super::disguised_link::link_target;
use super::letters::{FoldedText, fold};
use super::phrases::PhraseCounts;
use super::{SenderHistory, domain};
use crate::parsed_mail::ParsedMail;
use crate::text::text_links::{TextSegment, text_blocks};

/// Bytes of text in which words are looked for.
const SEARCHED_BYTES: usize = 64 * 1024;
/// Links that are looked at.
const LINKS: usize = 200;
/// Links from which on it says something that all of them lead to the sender.
const HOME_LINKS: usize = 3;

/// A mail, prepared for the signals.
pub(super) struct ScamEvidence<'a> {
    pub mail: &'a ParsedMail,
    pub known: &'a SenderHistory<'a>,
    /// The domain of the sender's address; empty for a mail from nobody.
    pub sender: &'a str,
    /// What somebody registered of it.
    pub sender_registered: String,
    pub name: FoldedText,
    pub subject: FoldedText,
    /// The writer's own words.
    pub text: FoldedText,
    /// All that is shown: the text with its history, or the page.
    pub shown: FoldedText,
    /// Phrases in the sender's name, the subject and all that is shown.
    pub phrases: PhraseCounts,
    /// The same without what is quoted, for a mail with history.
    pub own_phrases: Option<PhraseCounts>,
    pub targets: Vec<LinkTarget>,
    /// Letters and digits of all text that is shown.
    pub letters: usize,
}

/// A link to a page.
pub(super) struct LinkTarget {
    pub url: Url,
    pub host: String,
    /// What somebody registered of the host.
    pub registered: String,
}

impl<'a> ScamEvidence<'a> {
    pub fn of(mail: &'a ParsedMail, known: &'a SenderHistory<'a>) -> ScamEvidence<'a> {
        let from = mail.from.as_ref();
        let name = fold(from.and_then(|from| from.name.as_deref()).unwrap_or_default());
        let subject = fold(&mail.subject);
        let text = fold(bound(&mail.text));
        let shown = if mail.page_text.is_empty() { &mail.original } else { &mail.page_text };
        let shown = fold(bound(shown));
        let count = |body: &FoldedText| {
            // The signs between the parts keep a phrase from running across them.
            PhraseCounts::of_text(&format!("{} . {} . {}", name.words, subject.words, body.words))
        };
        let history = !mail.in_reply_to.is_empty() || !mail.references.is_empty();
        let sender = from.map_or("", |from| domain::of_address(&from.email));
        ScamEvidence {
            mail,
            known,
            sender,
            sender_registered: domain::registered_domain(sender),
            phrases: count(&shown),
            own_phrases: history.then(|| count(&text)),
            targets: targets(mail),
            letters: shown.words.chars().filter(|c| *c != ' ').count(),
            name,
            subject,
            text,
            shown,
        }
    }

    /// True for an answer, which may quote what somebody else wrote.
    pub fn has_history(&self) -> bool {
        self.own_phrases.is_some()
    }

    /// True when every link leads to the sender's own pages, as those of an honest shop do.
    pub fn leads_home(&self) -> bool {
        self.targets.len() >= HOME_LINKS && self.targets.iter().all(|link| self.is_own(link))
    }

    /// True for a link to the sender's own pages.
    pub fn is_own(&self, link: &LinkTarget) -> bool {
        link.registered == self.sender_registered
    }

    pub fn is_ours(&self, domain: &str) -> bool {
        let own = self.known.own_domains.iter().take(super::COMPARED);
        own.into_iter().any(|own| domain::is_same_owner(own, domain))
    }
}

fn bound(text: &str) -> &str {
    &text[..text.floor_char_boundary(SEARCHED_BYTES)]
}

/// The links to pages: of the HTML, or of the text where there is none.
fn targets(mail: &ParsedMail) -> Vec<LinkTarget> {
    let target = |href: &str| {
        let url = link_target(href)?;
        let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"))?;
        let host = host.trim_end_matches('.').to_lowercase();
        Some(LinkTarget { registered: domain::registered_domain(&host), host, url })
    };
    if mail.html.is_some() {
        let links = mail.links.iter().filter_map(|link| target(&link.target));
        return links.take(LINKS).collect();
    }
    let blocks = text_blocks(bound(&mail.original));
    let segments = blocks.iter().flat_map(|block| &block.segments);
    let links = segments.filter_map(|segment| match segment {
        TextSegment::Link { href, .. } => target(href),
        TextSegment::Words(_) => None,
    });
    links.take(LINKS).collect()
}
