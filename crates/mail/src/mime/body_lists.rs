//! Which parts are the text of a mail, and which are files: the lists of RFC 8621, section 4.1.4.

use mail_parser::{MessagePart, MimeHeaders, PartType};

use super::entity::{EntityKind, Subtype};

/// The numbers of the parts that a mail's HTML and plain text are made of, and of its files.
#[derive(Debug, Default)]
pub(super) struct BodyLists {
    pub html_body: Vec<u32>,
    pub text_body: Vec<u32>,
    pub attachments: Vec<u32>,
}

/// An open multipart, as far as its parts' roles depend on it.
#[derive(Debug)]
pub(super) struct MultipartState {
    pub subtype: Subtype,
    /// It is, or is within, a choice between forms of the same text.
    in_alternative: bool,
    needs_html: bool,
    needs_text: bool,
    /// Parts of the lists when it began.
    html_before: usize,
    text_before: usize,
}

impl BodyLists {
    /// A multipart begins.
    pub fn open(&self, subtype: Subtype, parent: Option<&MultipartState>) -> MultipartState {
        MultipartState {
            subtype,
            in_alternative: subtype == Subtype::Alternative
                || parent.is_some_and(|parent| parent.in_alternative),
            needs_html: parent.is_none_or(|parent| parent.needs_html),
            needs_text: parent.is_none_or(|parent| parent.needs_text),
            html_before: self.html_body.len(),
            text_before: self.text_body.len(),
        }
    }

    /// A part with this number has been read. `parent` is the multipart that it stands in, and its place
    /// there, from 1 on.
    pub fn add(
        &mut self,
        number: u32,
        part: &MessagePart<'_>,
        kind: EntityKind,
        mut parent: Option<(&mut MultipartState, usize)>,
    ) {
        let inline =
            is_inline(part, kind, parent.as_ref().map(|(state, place)| (&**state, *place)));
        let (to_html, to_text) = match (&mut parent, kind) {
            (Some((state, _)), kind) if state.subtype == Subtype::Alternative => {
                (kind == EntityKind::Html, kind == EntityKind::Plain)
            }
            _ if !inline => (false, false),
            (Some((state, _)), kind) => {
                if state.in_alternative && (state.needs_html || state.needs_text) {
                    state.needs_text &= kind != EntityKind::Html;
                    state.needs_html &= kind != EntityKind::Plain;
                }
                (state.needs_html, state.needs_text)
            }
            (None, _) => (true, true),
        };
        if to_html {
            self.html_body.push(number);
        }
        if to_text {
            self.text_body.push(number);
        }
        let is_shown = match &part.body {
            PartType::Html(_) => to_html,
            PartType::Text(_) => to_text,
            _ => false,
        };
        if !is_shown {
            self.attachments.push(number);
        }
    }

    /// A multipart ends. Of a choice with one form only, that is both.
    pub fn close(&mut self, state: &MultipartState) {
        if state.subtype != Subtype::Alternative || !(state.needs_html && state.needs_text) {
            return;
        }
        let html = self.html_body[state.html_before.min(self.html_body.len())..].to_vec();
        let text = self.text_body[state.text_before.min(self.text_body.len())..].to_vec();
        if text.is_empty() {
            self.text_body.extend(&html);
        }
        if html.is_empty() {
            self.html_body.extend(&text);
        }
    }
}

/// True for what is shown among the text.
fn is_inline(
    part: &MessagePart<'_>,
    kind: EntityKind,
    parent: Option<(&MultipartState, usize)>,
) -> bool {
    if !matches!(kind, EntityKind::Plain | EntityKind::Html | EntityKind::Media) {
        return false;
    }
    if part.is_encoding_problem {
        return parent.is_none();
    }
    let is_file = part.content_disposition().is_some_and(|disposition| disposition.is_attachment());
    let is_named = || part.content_type().is_some_and(|named| named.has_attribute("name"));
    let fits = match parent {
        None | Some((_, 1)) => true,
        Some((state, _)) if state.subtype == Subtype::Related => false,
        Some(_) => kind == EntityKind::Media || !is_named(),
    };
    !is_file && fits
}
