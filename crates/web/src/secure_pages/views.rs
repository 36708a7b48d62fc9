//! What the pages of secure messages show.

use askama::Template;
use jiff::tz::TimeZone;
use model::branding::Branding;
use model::guests::guest_forms::GuestFormId;
use model::guests::secure::{PageAuthor, PageMessage, SecurePage};
use model::times::local_times::LocalTimes;
use translation::t;

use super::GuestPage;
use crate::guest::GuestBrowser;
use crate::layout::file_kinds::kind_and_size;
use crate::layout::filters;
use crate::layout::wording::{Avatar, TimeFormat, first_name, month_name, paragraphs, weekday};
use crate::pages::writing::rich_text::{formatted_with_files, shows_file};
use crate::visitor::Visitor;

/// A moment for machines and for people.
pub struct PageTime {
    pub iso: String,
    pub text: String,
}

/// Writes times for a customer: in the zone that the browser told, else in that of the inbox, by its name.
pub struct GuestTimeFormat {
    format: TimeFormat,
    /// The clock of the inbox, where the customer's own is not known.
    of_inbox: Option<LocalTimes>,
    inbox: LocalTimes,
}

impl GuestTimeFormat {
    pub fn new(now: i64, visitor: &Visitor, page: &GuestPage) -> GuestTimeFormat {
        let of_inbox = (visitor.zone == TimeZone::UTC).then(|| page.times.clone());
        let zone = of_inbox.as_ref().map_or(&visitor.zone, |times| &times.zone);
        GuestTimeFormat {
            format: TimeFormat::new(now, zone.clone()),
            of_inbox,
            inbox: page.times.clone(),
        }
    }

    pub fn clock(&self, at: i64) -> String {
        let clock = self.format.clock(at);
        match &self.of_inbox {
            Some(times) => times.with_zone_name(&clock),
            None => clock,
        }
    }

    /// Until when something holds: on the clock of the inbox, as the mail says it.
    pub fn until(&self, at: i64) -> PageTime {
        PageTime { iso: self.format.long(at).iso, text: self.inbox.moment(at) }
    }

    pub fn moment(&self, at: i64) -> PageTime {
        let date = self.format.in_zone(at).date();
        let (weekday, month) = (weekday(date.weekday()), month_name(date.month()));
        let (day, clock) = (date.day(), self.clock(at));
        let text = t!("{weekday} {day} {month}, {clock}", weekday, day, month, clock);
        PageTime { iso: self.format.long(at).iso, text }
    }
}

/// What every stage of a page has.
pub struct SecurePageHeader {
    pub token: String,
    pub csrf: String,
    pub workspace: String,
    pub branding: Branding,
}

impl SecurePageHeader {
    pub fn new(token: &str, browser: &GuestBrowser, page: &GuestPage) -> SecurePageHeader {
        SecurePageHeader {
            token: token.to_owned(),
            csrf: browser.csrf.to_string(),
            workspace: page.front.workspace.clone(),
            branding: page.front.branding.clone(),
        }
    }
}

/// Who wrote, and the button for the code.
#[derive(Template)]
#[template(path = "secure_front.html", whitespace = "minimize")]
pub struct FrontPage {
    pub sheet: SecurePageHeader,
    pub author: String,
    pub to: String,
    pub written: PageTime,
    pub until: PageTime,
    /// The address is proven; the message only has to be opened.
    pub is_proven: bool,
    pub signed_out: bool,
    /// A reply that was being written when the session ended.
    pub draft: String,
}

impl FrontPage {
    pub fn new(sheet: SecurePageHeader, page: &GuestPage, times: &GuestTimeFormat) -> FrontPage {
        FrontPage {
            author: page.front.author.clone().unwrap_or_else(|| page.front.workspace.clone()),
            sheet,
            to: mask(&page.link.email),
            written: times.moment(page.front.written_at),
            until: times.until(page.link.expires_at),
            is_proven: page.session.is_some(),
            signed_out: false,
            draft: String::new(),
        }
    }
}

/// The field for the code.
#[derive(Template)]
#[template(path = "secure_code.html", whitespace = "minimize")]
pub struct CodePage {
    pub sheet: SecurePageHeader,
    pub to: String,
    /// When the newest code was sent, and until when it counts.
    pub sent: Option<(String, String)>,
    /// The tries of the newest code, or its minutes, are over.
    pub is_over: bool,
    /// The newest code was asked for on this page, in place of another.
    pub is_new: bool,
    /// When the next code can be asked for, if not at once.
    pub next_at: Option<String>,
    /// The subject of the mail with it.
    pub subject: String,
    pub error: String,
    pub draft: String,
}

impl CodePage {
    pub fn new(sheet: SecurePageHeader, page: &GuestPage, times: &GuestTimeFormat) -> CodePage {
        let sent = page.code.filter(|code| code.tries_left > 0);
        CodePage {
            sheet,
            to: mask(&page.link.email),
            sent: sent.map(|code| (times.clock(code.sent_at), times.clock(code.expires_at))),
            is_over: page.code.is_some() && sent.is_none(),
            is_new: false,
            next_at: page.next_code_at.map(|at| times.clock(at)),
            subject: page.code_subject.clone(),
            error: String::new(),
            draft: String::new(),
        }
    }
}

/// The messages, and the form of the answer.
#[derive(Template)]
#[template(path = "secure_read.html", whitespace = "minimize")]
pub struct ReadPage {
    pub sheet: SecurePageHeader,
    pub subject: String,
    pub reader: Option<String>,
    pub author: String,
    pub email: String,
    pub until: PageTime,
    pub signed_in_until: String,
    pub messages: Vec<LetterView>,
    pub sent: bool,
    /// The id of the form of the answer.
    pub form_id: GuestFormId,
    pub draft: String,
    pub error: String,
}

pub struct LetterView {
    pub id: String,
    pub avatar: Avatar,
    pub name: String,
    pub is_mine: bool,
    pub time: PageTime,
    pub paragraphs: Vec<Vec<String>>,
    /// As HTML, where it was written with formatting.
    pub rich: Option<String>,
    /// Ids, names, and kinds with sizes.
    pub files: Vec<(String, String, String)>,
}

impl ReadPage {
    pub fn new(
        sheet: SecurePageHeader,
        page: &GuestPage,
        read: SecurePage,
        times: &GuestTimeFormat,
        form_id: GuestFormId,
    ) -> ReadPage {
        let author = read.front.author.as_deref().unwrap_or(&read.front.workspace);
        let until = page.session.as_ref().map_or(0, |session| session.ends_at);
        let reader = read.reader.clone();
        let name = reader.clone().unwrap_or_else(|| page.link.email.clone());
        let files = format!("/s/{}/files/", sheet.token);
        let letters = read.messages.into_iter();
        let letters = letters.map(|message| letter(message, &name, &files, times));
        ReadPage {
            author: first_name(author).to_owned(),
            messages: letters.collect(),
            subject: if read.subject.is_empty() {
                t!("Protected message").into()
            } else {
                read.subject
            },
            reader,
            email: page.link.email.clone(),
            until: times.until(page.link.expires_at),
            signed_in_until: times.clock(until),
            sent: false,
            form_id,
            draft: String::new(),
            error: String::new(),
            sheet,
        }
    }
}

fn letter(
    message: PageMessage,
    reader: &str,
    files_at: &str,
    times: &GuestTimeFormat,
) -> LetterView {
    let content = message.content;
    let is_mine = message.author == PageAuthor::Reader;
    let (avatar, name) = match message.author {
        PageAuthor::Team(name) => (Avatar::person(&name), name),
        PageAuthor::Reader => {
            (Avatar::customer(reader), translation::text_in_context("author", "You").to_owned())
        }
    };
    let markdown = content.markdown.as_deref();
    let is_beside = |id: &str| !markdown.is_some_and(|markdown| shows_file(markdown, id));
    let files = content.files.iter().filter(|file| is_beside(file.id.as_str()));
    LetterView {
        id: message.id.to_string(),
        avatar,
        name,
        is_mine,
        time: times.moment(message.at),
        rich: markdown.map(|markdown| formatted_with_files(markdown, files_at)),
        paragraphs: paragraphs(&content.text),
        files: files
            .map(|file| {
                let about = kind_and_size(&file.filename, &file.content_type, file.size);
                (file.id.to_string(), file.filename.clone(), about)
            })
            .collect(),
    }
}

/// A page whose time is over, that was taken back, or that is locked.
#[derive(Template)]
#[template(path = "secure_gone.html", whitespace = "minimize")]
pub struct GonePage {
    pub sheet: SecurePageHeader,
    pub is_locked: bool,
    /// When a new link was asked for, if that was today.
    pub asked: Option<String>,
    /// A reply that was being written when the page was closed.
    pub draft: String,
}

/// A page that says why there is none.
#[derive(Template)]
#[template(path = "upload_nothing.html", whitespace = "minimize")]
pub struct NothingPage {
    pub title: &'static str,
    pub sentence: String,
}

/// An address of which only its reader recognizes the first part.
fn mask(email: &str) -> String {
    let (local, domain) = email.rsplit_once('@').unwrap_or((email, ""));
    let first: String = local.chars().take(1).collect();
    format!("{first}•••••@{domain}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_by_its_first_letter_and_its_domain() {
        assert_eq!(mask("helena@osei-studio.example"), "h•••••@osei-studio.example");
        assert_eq!(mask("é@x.example"), "é•••••@x.example");
    }
}
