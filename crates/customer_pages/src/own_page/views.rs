//! What a customer's own page shows.

use askama::Template;
use customers::{
    CustomerBooking, CustomerConversation, CustomerLetter, CustomerTurn, CustomerWorkspace,
    ReadConversation,
};
use jiff::tz::TimeZone;
use model::branding::Branding;
use model::guests::guest_forms::GuestFormId;
use model::times::calendar_words::{month_name, weekday};
use translation::t;
use web::guest::{GuestBrowser, GuestForm};
use web::layout::file_kinds::kind_and_size;
use web::layout::filters;
use web::layout::wording::{Avatar, TimeFormat, paragraphs};
use web::visitor::Visitor;

use super::SignedInPage;
use super::read::Unsent;

/// Writes times on the customer's clock, where the browser told it.
pub struct OwnTimes {
    format: TimeFormat,
    is_utc: bool,
}

impl OwnTimes {
    pub fn new(now: i64, visitor: &Visitor) -> OwnTimes {
        let is_utc = visitor.zone == TimeZone::UTC;
        OwnTimes { format: TimeFormat::new(now, visitor.zone.clone()), is_utc }
    }

    fn clock(&self, at: i64) -> String {
        let clock = self.format.clock(at);
        if self.is_utc { format!("{clock} UTC") } else { clock }
    }

    fn moment(&self, at: i64) -> String {
        let date = self.format.in_zone(at).date();
        let (weekday, month) = (weekday(date.weekday()), month_name(date.month()));
        let (day, year, clock) = (date.day(), date.year(), self.clock(at));
        if year == self.format.in_zone(self.format.now).year() {
            t!("{weekday} {day} {month}, {clock}", weekday, day, month, clock)
        } else {
            t!("{day} {month} {year}, {clock}", day, month, year, clock)
        }
    }
}

/// What somebody was writing when their session ended: it comes along until the address is proven again.
#[derive(Clone, Debug, Default)]
pub struct LeftAnswer {
    /// The conversation that it is for.
    pub conversation: String,
    pub text: String,
}

impl LeftAnswer {
    pub fn of(form: &GuestForm) -> LeftAnswer {
        LeftAnswer { conversation: form.get("c"), text: form.get("text") }
    }
}

/// The way in.
#[derive(Template)]
#[template(path = "own_front.html", whitespace = "minimize")]
pub struct OwnFrontPage {
    pub firm: String,
    pub branding: Branding,
    pub slug: String,
    pub csrf: String,
    pub email: String,
    pub error: &'static str,
    pub is_signed_out: bool,
    pub left: LeftAnswer,
}

impl OwnFrontPage {
    pub fn new(workspace: CustomerWorkspace, browser: &GuestBrowser) -> OwnFrontPage {
        OwnFrontPage {
            firm: workspace.name,
            branding: workspace.branding,
            slug: workspace.slug,
            csrf: browser.csrf.to_string(),
            email: String::new(),
            error: "",
            is_signed_out: false,
            left: LeftAnswer::default(),
        }
    }
}

/// The field for the code.
#[derive(Template)]
#[template(path = "own_code.html", whitespace = "minimize")]
pub struct OwnCodePage {
    pub firm: String,
    pub branding: Branding,
    pub slug: String,
    pub csrf: String,
    pub email: String,
    /// Of the mail with the code.
    pub subject: String,
    pub error: String,
    /// When the next code can be asked for, if there were enough.
    pub next_at: String,
    pub left: LeftAnswer,
}

/// The conversations.
#[derive(Template)]
#[template(path = "own_list.html", whitespace = "minimize")]
pub struct OwnListPage {
    firm: String,
    branding: Branding,
    slug: String,
    csrf: String,
    email: String,
    until: String,
    open: Vec<OwnRow>,
    closed: Vec<OwnRow>,
    times: Vec<(String, String, String)>,
    is_deletion_asked: bool,
}

/// A conversation in the list.
pub struct OwnRow {
    id: String,
    subject: String,
    about: String,
    status: &'static str,
    is_mine: bool,
}

impl OwnListPage {
    pub(super) fn new(
        page: &SignedInPage,
        browser: &GuestBrowser,
        all: Vec<CustomerConversation>,
        times: Vec<CustomerBooking>,
        clock: &OwnTimes,
        is_deletion_asked: bool,
    ) -> OwnListPage {
        let row = |one: &CustomerConversation| OwnRow {
            id: one.id.to_string(),
            subject: subject_or_none(&one.subject),
            about: about(one, clock),
            status: turn_word(one.turn),
            is_mine: one.turn == CustomerTurn::WithCustomer,
        };
        let of = |is_closed: bool| {
            let rows = all.iter().filter(|one| (one.turn == CustomerTurn::Closed) == is_closed);
            rows.map(row).collect()
        };
        let time = |one: CustomerBooking| (one.name, clock.moment(one.starts_at), one.url);
        OwnListPage {
            firm: page.workspace.name.clone(),
            branding: page.workspace.branding.clone(),
            slug: page.workspace.slug.clone(),
            csrf: browser.csrf.to_string(),
            email: page.session.email.to_string(),
            until: clock.clock(page.session.ends_at),
            open: of(false),
            closed: of(true),
            times: times.into_iter().map(time).collect(),
            is_deletion_asked,
        }
    }
}

fn subject_or_none(subject: &str) -> String {
    if subject.is_empty() { t!("No subject").to_owned() } else { subject.to_owned() }
}

fn about(one: &CustomerConversation, clock: &OwnTimes) -> String {
    let time = clock.moment(one.newest_at);
    match (one.is_newest_mine, one.messages) {
        (true, _) => t!("You wrote on {time}.", time),
        (false, 1) => t!("1 message, on {time}", time),
        (false, n) => t!("{n} messages, the newest on {time}", n, time),
    }
}

fn turn_word(turn: CustomerTurn) -> &'static str {
    match turn {
        CustomerTurn::WithTeam => t!("With us"),
        CustomerTurn::WithCustomer => t!("Waits for you"),
        CustomerTurn::Closed => t!("Closed"),
    }
}

/// A conversation, and the form of an answer.
#[derive(Template)]
#[template(path = "own_conversation.html", whitespace = "minimize")]
pub struct OwnConversationPage {
    firm: String,
    branding: Branding,
    slug: String,
    csrf: String,
    id: String,
    subject: String,
    status: &'static str,
    letters: Vec<OwnLetter>,
    requests: Vec<String>,
    form: GuestFormId,
    text: String,
    error: String,
    has_arrived: bool,
}

/// A message.
pub struct OwnLetter {
    id: String,
    avatar: Avatar,
    name: String,
    is_mine: bool,
    /// Whoever wrote it only named the customer's address.
    is_unproven: bool,
    time: String,
    paragraphs: Vec<Vec<String>>,
    is_protected: bool,
    protected_at: Option<String>,
    /// Ids, names, and kinds with sizes.
    files: Vec<(String, String, String)>,
}

impl OwnConversationPage {
    pub(super) fn new(
        page: &SignedInPage,
        browser: &GuestBrowser,
        read: ReadConversation,
        clock: &OwnTimes,
        (form, unsent): (GuestFormId, Unsent),
    ) -> OwnConversationPage {
        OwnConversationPage {
            firm: page.workspace.name.clone(),
            branding: page.workspace.branding.clone(),
            slug: page.workspace.slug.clone(),
            csrf: browser.csrf.to_string(),
            id: read.id.to_string(),
            subject: subject_or_none(&read.subject),
            status: turn_word(read.turn),
            letters: read.letters.into_iter().map(|letter| view(letter, clock)).collect(),
            requests: read.requests,
            form,
            text: unsent.text,
            error: unsent.error,
            has_arrived: unsent.has_arrived,
        }
    }
}

fn view(letter: CustomerLetter, clock: &OwnTimes) -> OwnLetter {
    let (avatar, name) = match (letter.is_mine, letter.is_proven) {
        (true, true) => {
            let you = translation::text_in_context("author", "You").to_owned();
            (Avatar::customer(&letter.author), you)
        }
        (true, false) => (Avatar::customer(&letter.author), letter.author),
        (false, _) => (Avatar::person(&letter.author), letter.author),
    };
    OwnLetter {
        id: letter.id.to_string(),
        avatar,
        name,
        is_mine: letter.is_mine && letter.is_proven,
        is_unproven: !letter.is_proven,
        time: clock.moment(letter.at),
        paragraphs: if letter.is_protected { Vec::new() } else { paragraphs(&letter.text) },
        is_protected: letter.is_protected,
        protected_at: letter.protected_at,
        files: letter
            .files
            .into_iter()
            .map(|file| {
                let about = kind_and_size(&file.filename, &file.content_type, file.size);
                (file.id, file.filename, about)
            })
            .collect(),
    }
}
