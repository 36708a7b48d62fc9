//! What a sample conversation is made of: who writes to which inbox, and what happened when.

use base::limits::{DAY_MS, MINUTE_MS};
use mail::{AuthorKind, Dmarc, Risk};

use super::files::SampleFile;

pub struct Scenario {
    pub inbox: SampleInbox,
    /// The plus tag of the address that the first mail came to.
    pub reference: Option<&'static str>,
    /// Name and address.
    pub from: (&'static str, &'static str),
    pub subject: &'static str,
    /// In the order they happened.
    pub steps: &'static [ScenarioStep],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleInbox {
    Support,
    Billing,
    /// Seen by Ines alone.
    Private,
    Sandbox,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleMember {
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

pub struct ScenarioStep {
    pub at: At,
    pub what: ScenarioAction,
}

pub enum ScenarioAction {
    /// The shop mailed the customer by itself, and recorded it.
    AppMail {
        reference: &'static str,
        subject: &'static str,
        text: &'static str,
    },
    Mail {
        text: &'static str,
        /// The HTML beside the text, as a mail program wrote it.
        html: Option<&'static str>,
        kind: AuthorKind,
        files: &'static [SampleFile],
        risk: Option<SampleRisk>,
    },
    /// Leaves after the undo window.
    Reply {
        by: SampleMember,
        text: &'static str,
    },
    /// Leaves at a time that its writer chose.
    ReplyLater {
        by: SampleMember,
        until: At,
        text: &'static str,
    },
    /// A person's reply in Markdown; it leaves after the undo window.
    RichReply {
        by: SampleMember,
        markdown: &'static str,
    },
    /// A reply that is read on a protected page; it leaves after the undo window.
    SecureReply {
        by: SampleMember,
        text: &'static str,
    },
    /// The customer reads the protected page.
    Opened,
    /// Robo writes, and waits for a person.
    Draft {
        summary: &'static str,
        text: &'static str,
        papers: &'static [SampleDocument],
    },
    /// Lets the draft go, with the text that the person put in its place.
    Approve {
        by: SampleMember,
        edited: Option<&'static str>,
    },
    Discard {
        by: SampleMember,
        reason: &'static str,
    },
    Note {
        by: SampleMember,
        text: &'static str,
    },
    Tag {
        by: SampleMember,
        names: &'static [&'static str],
    },
    Assign {
        by: SampleMember,
        to: SampleMember,
    },
    Close {
        by: SampleMember,
    },
    Snooze {
        by: SampleMember,
        until: At,
    },
}

/// What the scam check says about a mail.
pub struct SampleRisk {
    pub risk: Risk,
    pub reasons: &'static [&'static str],
    pub dmarc: Dmarc,
    pub hold: bool,
}

/// A document that a customer is asked for.
pub struct SampleDocument {
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

pub const fn app_mail(at: At, reference: Text, subject: Text, text: Text) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::AppMail { reference, subject, text } }
}

pub const fn mail(at: At, text: Text) -> ScenarioStep {
    mail_with(at, text, &[])
}

pub const fn mail_with(at: At, text: Text, files: &'static [SampleFile]) -> ScenarioStep {
    ScenarioStep {
        at,
        what: ScenarioAction::Mail {
            text,
            html: None,
            kind: AuthorKind::Person,
            files,
            risk: None,
        },
    }
}

pub const fn mail_with_html(at: At, text: Text, html: Text) -> ScenarioStep {
    ScenarioStep {
        at,
        what: ScenarioAction::Mail {
            text,
            html: Some(html),
            kind: AuthorKind::Person,
            files: &[],
            risk: None,
        },
    }
}

pub const fn auto_reply(at: At, text: Text) -> ScenarioStep {
    ScenarioStep {
        at,
        what: ScenarioAction::Mail {
            text,
            html: None,
            kind: AuthorKind::AutoReply,
            files: &[],
            risk: None,
        },
    }
}

pub const fn risky(at: At, text: Text, risk: SampleRisk) -> ScenarioStep {
    ScenarioStep {
        at,
        what: ScenarioAction::Mail {
            text,
            html: None,
            kind: AuthorKind::Person,
            files: &[],
            risk: Some(risk),
        },
    }
}

pub const fn reply(at: At, by: SampleMember, text: Text) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Reply { by, text } }
}

pub const fn reply_later(at: At, by: SampleMember, until: At, text: Text) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::ReplyLater { by, until, text } }
}

pub const fn rich_reply(at: At, by: SampleMember, markdown: Text) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::RichReply { by, markdown } }
}

pub const fn secure_reply(at: At, by: SampleMember, text: Text) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::SecureReply { by, text } }
}

pub const fn open(at: At) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Opened }
}

pub const fn draft(at: At, summary: Text, text: Text) -> ScenarioStep {
    ask(at, summary, text, &[])
}

pub const fn ask(
    at: At,
    summary: Text,
    text: Text,
    papers: &'static [SampleDocument],
) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Draft { summary, text, papers } }
}

pub const fn approve(at: At, by: SampleMember) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Approve { by, edited: None } }
}

pub const fn approve_as(at: At, by: SampleMember, text: Text) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Approve { by, edited: Some(text) } }
}

pub const fn discard(at: At, by: SampleMember, reason: Text) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Discard { by, reason } }
}

pub const fn note(at: At, by: SampleMember, text: Text) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Note { by, text } }
}

pub const fn tag(at: At, by: SampleMember, names: &'static [&'static str]) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Tag { by, names } }
}

pub const fn assign(at: At, by: SampleMember, to: SampleMember) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Assign { by, to } }
}

pub const fn close(at: At, by: SampleMember) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Close { by } }
}

pub const fn snooze(at: At, by: SampleMember, until: At) -> ScenarioStep {
    ScenarioStep { at, what: ScenarioAction::Snooze { by, until } }
}
