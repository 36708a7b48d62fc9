//! What a sample conversation is made of: who writes to which inbox, and what happened when.

use base::limits::{DAY_MS, MINUTE_MS};
use mail::{Dmarc, Risk};
use serde::de::{Deserialize, Deserializer, Error};

/// Minutes of an hour.
const HOUR: i64 = 60;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub inbox: SampleInbox,
    /// The plus tag of the address that the first mail came to.
    pub reference: Option<String>,
    /// Name and address.
    pub from: (String, String),
    pub subject: String,
    /// In the order they happened.
    #[serde(rename = "step")]
    pub steps: Vec<ScenarioStep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampleInbox {
    Support,
    Billing,
    /// Seen by Ines alone.
    Private,
    Sandbox,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampleMember {
    Ines,
    Jonas,
    Priya,
    Robo,
    RoboTest,
}

/// A moment before the demo was started, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// `95 minutes ago`, `2 days ago, 08:52` or `in 4 days, 07:00`.
    fn parse(text: &str) -> Option<At> {
        if let Some(minutes) = text.strip_suffix(" minutes ago") {
            return Some(At::MinutesAgo(minutes.parse().ok()?));
        }
        let (day, time) = text.split_once(", ")?;
        let (hour, minute) = time.split_once(':')?;
        let (number, sign) = match (day.strip_prefix("in "), day.strip_suffix(" ago")) {
            (Some(later), None) => (later, -1),
            (None, Some(earlier)) => (earlier, 1),
            _ => return None,
        };
        let number = number.strip_suffix(" days").or(number.strip_suffix(" day"))?;
        let minutes = hour.parse::<i64>().ok()? * HOUR + minute.parse::<i64>().ok()?;
        Some(At::Day(sign * number.parse::<i64>().ok()?, minutes))
    }
}

impl<'de> Deserialize<'de> for At {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<At, D::Error> {
        let text = String::deserialize(deserializer)?;
        At::parse(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is no time such as `95 minutes ago` or `2 days ago, 08:52`"
            ))
        })
    }
}

pub struct ScenarioStep {
    pub at: At,
    pub what: ScenarioAction,
}

/// Serde cannot refuse unknown fields of a struct with a flattened one, so the time is taken out first.
impl<'de> Deserialize<'de> for ScenarioStep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ScenarioStep, D::Error> {
        let mut step = toml::Table::deserialize(deserializer)?;
        let at = step.remove("at").ok_or_else(|| D::Error::custom("a step says when, as `at`"))?;
        let at = At::deserialize(at).map_err(D::Error::custom)?;
        let what =
            ScenarioAction::deserialize(toml::Value::Table(step)).map_err(D::Error::custom)?;
        Ok(ScenarioStep { at, what })
    }
}

#[derive(serde::Deserialize)]
#[serde(tag = "does", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScenarioAction {
    /// The shop mailed the customer by itself, and recorded it.
    AppMail {
        reference: String,
        subject: String,
        text: String,
    },
    Mail {
        text: String,
        /// The HTML beside the text, as a mail program wrote it.
        html: Option<String>,
        /// True for an automatic reply.
        #[serde(default)]
        automatic: bool,
        /// By their names.
        #[serde(default)]
        files: Vec<String>,
        risk: Option<SampleRisk>,
    },
    /// Leaves after the undo window.
    Reply {
        by: SampleMember,
        text: String,
    },
    /// Leaves at a time that its writer chose.
    ReplyLater {
        by: SampleMember,
        until: At,
        text: String,
    },
    /// A person's reply in Markdown; it leaves after the undo window.
    RichReply {
        by: SampleMember,
        markdown: String,
    },
    /// A reply that is read on a protected page; it leaves after the undo window.
    SecureReply {
        by: SampleMember,
        text: String,
    },
    /// The customer reads the protected page.
    Opened,
    /// Robo writes, and waits for a person.
    Draft {
        summary: String,
        text: String,
        #[serde(default)]
        documents: Vec<SampleDocument>,
    },
    /// Lets the draft go, with the text that the person put in its place.
    Approve {
        by: SampleMember,
        edited: Option<String>,
    },
    Discard {
        by: SampleMember,
        reason: String,
    },
    Note {
        by: SampleMember,
        text: String,
    },
    Tag {
        by: SampleMember,
        names: Vec<String>,
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
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleRisk {
    #[serde(with = "RiskWord")]
    pub risk: Risk,
    pub reasons: Vec<String>,
    #[serde(with = "DmarcWord")]
    pub dmarc: Dmarc,
    pub hold: bool,
}

#[derive(serde::Deserialize)]
#[serde(remote = "Risk", rename_all = "kebab-case")]
enum RiskWord {
    Suspicious,
    Phishing,
    Scam,
    Impersonation,
    Injection,
}

#[derive(serde::Deserialize)]
#[serde(remote = "Dmarc", rename_all = "kebab-case")]
enum DmarcWord {
    Pass,
    Fail,
    Absent,
}

/// A document that a customer is asked for.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleDocument {
    pub label: String,
    pub description: String,
    pub required: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_it_is_said() {
        assert_eq!(At::parse("95 minutes ago"), Some(At::MinutesAgo(95)));
        assert_eq!(At::parse("2 days ago, 08:52"), Some(At::Day(2, 8 * 60 + 52)));
        assert_eq!(At::parse("1 day ago, 00:05"), Some(At::Day(1, 5)));
        assert_eq!(At::parse("in 4 days, 07:00"), Some(At::Day(-4, 420)));
        for wrong in ["", "soon", "2 days ago", "2 weeks ago, 08:00", "in 2 days ago, 08:00"] {
            assert_eq!(At::parse(wrong), None, "{wrong}");
        }
    }
}
