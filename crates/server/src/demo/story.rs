//! What a sample conversation is made of: who writes to which inbox, and what happened when.

use inbox::limits::{DAY_MS, MINUTE_MS};
use mail::{Dmarc, Kind};

use super::files::File;

pub struct Story {
    pub inbox: Inbox,
    /// The plus tag of the address that the first mail came to.
    pub reference: Option<&'static str>,
    /// Name and address.
    pub from: (&'static str, &'static str),
    pub subject: &'static str,
    /// In the order they happened.
    pub steps: &'static [Step],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inbox {
    Support,
    Billing,
    /// Seen by Ines alone.
    Private,
    Sandbox,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    Ines,
    Jonas,
    Priya,
    Robo,
    RoboTest,
}

/// A moment before the demo was started, or after it.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// Days before today, and minutes after that day's midnight in UTC.
    Day(i64, i64),
    MinutesAgo(i64),
}

impl At {
    pub fn millis(self, now: i64) -> i64 {
        match self {
            At::Day(days, minutes) => {
                (now.div_euclid(DAY_MS) - days) * DAY_MS + minutes * MINUTE_MS
            }
            At::MinutesAgo(minutes) => now - minutes * MINUTE_MS,
        }
    }
}

pub struct Step {
    pub at: At,
    pub what: What,
}

pub enum What {
    /// The shop mailed the customer by itself, and recorded it.
    AppMail {
        reference: &'static str,
        subject: &'static str,
        text: &'static str,
    },
    Mail {
        text: &'static str,
        kind: Kind,
        files: &'static [File],
        risk: Option<Risk>,
    },
    /// Leaves after the undo window.
    Reply {
        by: Member,
        text: &'static str,
    },
    /// Robo writes, and waits for a person.
    Draft {
        summary: &'static str,
        text: &'static str,
        papers: &'static [Paper],
    },
    /// Lets the draft go, with the text that the person put in its place.
    Approve {
        by: Member,
        edited: Option<&'static str>,
    },
    Discard {
        by: Member,
        reason: &'static str,
    },
    Note {
        by: Member,
        text: &'static str,
    },
    Tag {
        by: Member,
        names: &'static [&'static str],
    },
    Assign {
        by: Member,
        to: Member,
    },
    Close {
        by: Member,
    },
    Snooze {
        by: Member,
        until: At,
    },
}

/// What the scam check says about a mail.
pub struct Risk {
    pub word: &'static str,
    pub reasons: &'static [&'static str],
    pub dmarc: Dmarc,
    pub hold: bool,
}

/// A document that a customer is asked for.
pub struct Paper {
    pub label: &'static str,
    pub description: &'static str,
    pub required: bool,
}

pub const fn day(ago: i64, hour: i64, minute: i64) -> At {
    At::Day(ago, hour * 60 + minute)
}

pub const fn minutes(ago: i64) -> At {
    At::MinutesAgo(ago)
}

type Text = &'static str;

pub const fn app_mail(at: At, reference: Text, subject: Text, text: Text) -> Step {
    Step { at, what: What::AppMail { reference, subject, text } }
}

pub const fn mail(at: At, text: Text) -> Step {
    mail_with(at, text, &[])
}

pub const fn mail_with(at: At, text: Text, files: &'static [File]) -> Step {
    Step { at, what: What::Mail { text, kind: Kind::Person, files, risk: None } }
}

pub const fn auto_reply(at: At, text: Text) -> Step {
    Step { at, what: What::Mail { text, kind: Kind::AutoReply, files: &[], risk: None } }
}

pub const fn risky(at: At, text: Text, risk: Risk) -> Step {
    Step { at, what: What::Mail { text, kind: Kind::Person, files: &[], risk: Some(risk) } }
}

pub const fn reply(at: At, by: Member, text: Text) -> Step {
    Step { at, what: What::Reply { by, text } }
}

pub const fn draft(at: At, summary: Text, text: Text) -> Step {
    ask(at, summary, text, &[])
}

pub const fn ask(at: At, summary: Text, text: Text, papers: &'static [Paper]) -> Step {
    Step { at, what: What::Draft { summary, text, papers } }
}

pub const fn approve(at: At, by: Member) -> Step {
    Step { at, what: What::Approve { by, edited: None } }
}

pub const fn approve_as(at: At, by: Member, text: Text) -> Step {
    Step { at, what: What::Approve { by, edited: Some(text) } }
}

pub const fn discard(at: At, by: Member, reason: Text) -> Step {
    Step { at, what: What::Discard { by, reason } }
}

pub const fn note(at: At, by: Member, text: Text) -> Step {
    Step { at, what: What::Note { by, text } }
}

pub const fn tag(at: At, by: Member, names: &'static [&'static str]) -> Step {
    Step { at, what: What::Tag { by, names } }
}

pub const fn assign(at: At, by: Member, to: Member) -> Step {
    Step { at, what: What::Assign { by, to } }
}

pub const fn close(at: At, by: Member) -> Step {
    Step { at, what: What::Close { by } }
}

pub const fn snooze(at: At, by: Member, until: At) -> Step {
    Step { at, what: What::Snooze { by, until } }
}
