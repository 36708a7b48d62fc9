//! The sentences of timeline events.

use base::states::{ConversationRisk, Status};
use model::conversations::timeline::{
    RetiredBy, StoredTimelineEvent, TargetKind, TimelineEvent, WokenBy,
};
use model::fields::label;
use serde_json::{Map, Value};
use translation::{sentence, t};

use crate::layout::wording::TimeFormat;
use crate::pages::conversation::sorting::sorted_words;

/// Where the actor's name stands in a sentence.
const ACTOR: &str = "{actor}";

/// What happened, around the actor's name.
pub struct EventWords {
    /// Empty where the sentence begins with the name.
    pub before: String,
    pub after: String,
}

/// An event that a newer version wrote is shown by its name.
pub fn words(event: &StoredTimelineEvent, times: &TimeFormat) -> EventWords {
    let told = match event {
        StoredTimelineEvent::Known(event) => past_tense(event, times),
        StoredTimelineEvent::Unknown(name) => format!("{ACTOR} {name}"),
    };
    let (before, after) = told.split_once(ACTOR).unwrap_or(("", &told));
    EventWords { before: before.trim_end().to_owned(), after: after.trim_start().to_owned() }
}

/// Who acted, as the page names them.
pub fn actor(name: &str) -> String {
    match name.strip_prefix("The rule “").and_then(|rest| rest.strip_suffix('”')) {
        Some(rule) => t!("The rule “{rule}”", rule),
        None => name.to_owned(),
    }
}

/// What the scam check takes a mail for.
pub fn risk_word(risk: ConversationRisk) -> &'static str {
    match risk {
        ConversationRisk::Suspicious => t!("suspicious"),
        ConversationRisk::Phishing => t!("phishing"),
        ConversationRisk::Scam => t!("scam"),
        ConversationRisk::Impersonation => t!("impersonation"),
        ConversationRisk::Injection => t!("injection"),
    }
}

/// `Order: A-17, Paid: –`
fn values_in_words(fields: &Map<String, Value>) -> String {
    let word = |(key, value): (&String, &Value)| {
        let value = match value {
            Value::Null => "–".to_owned(),
            Value::Bool(true) => t!("Yes").to_owned(),
            Value::Bool(false) => t!("No").to_owned(),
            Value::String(text) => text.clone(),
            Value::Object(sum) => format!(
                "{} {}",
                sum.get("value").unwrap_or(&Value::Null),
                sum.get("currency").and_then(Value::as_str).unwrap_or_default()
            ),
            other => other.to_string(),
        };
        format!("{}: {value}", label(key))
    };
    fields.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// What happened, in the past tense, with the place of the actor's name.
fn past_tense(event: &TimelineEvent, times: &TimeFormat) -> String {
    match event {
        TimelineEvent::StatusChanged { to: Status::Open, .. } => {
            t!("{actor} opened this again").into()
        }
        TimelineEvent::StatusChanged { to: Status::Waiting, .. } => {
            t!("{actor} set this to waiting on the customer").into()
        }
        TimelineEvent::StatusChanged { to: Status::Closed, .. } => t!("{actor} closed this").into(),
        TimelineEvent::Assigned { to: Some(to), .. } => {
            t!("{actor} gave this to {name}", name = to.name)
        }
        TimelineEvent::Assigned { to: None, .. } => t!("{actor} took this off its assignee").into(),
        TimelineEvent::Tagged { added, removed } => {
            match (added.join(", ").as_str(), removed.join(", ").as_str()) {
                (added, "") => t!("{actor} added the tag {added}", added),
                ("", removed) => t!("{actor} removed the tag {removed}", removed),
                (added, removed) => {
                    t!("{actor} added the tag {added} and removed {removed}", added, removed)
                }
            }
        }
        TimelineEvent::Snoozed { until } => {
            t!("{actor} snoozed this until {time}", time = times.long(until.0).text)
        }
        TimelineEvent::FollowUp { until } => {
            let time = times.leaving(until.0);
            t!("{actor} brings this back {time} if nobody answers", time)
        }
        TimelineEvent::Woken { by: WokenBy::NoAnswer } => {
            t!("{actor} brought this back, nobody answered").into()
        }
        TimelineEvent::Woken { by: WokenBy::Clock } => {
            t!("{actor} brought this back, its time had come").into()
        }
        TimelineEvent::Woken { by: WokenBy::LinkedItem } => {
            t!("{actor} brought this back, a linked item was closed").into()
        }
        TimelineEvent::Woken { by: WokenBy::Customer } => {
            t!("{actor} brought this back, the customer answered").into()
        }
        TimelineEvent::Held { risk } => {
            t!("{actor} held this: {risk}", risk = risk.map_or("", risk_word))
        }
        TimelineEvent::WarningRemoved {} => {
            t!("{actor} checked this and removed the warning").into()
        }
        TimelineEvent::Spam {} => t!("{actor} moved this to the spam").into(),
        TimelineEvent::NotSpam {} => t!("{actor} said that this is no spam").into(),
        TimelineEvent::Deleted {} => t!("{actor} deleted this").into(),
        TimelineEvent::Restored {} => t!("{actor} took this out of the trash").into(),
        TimelineEvent::Released {} => t!("{actor} released this to the inbox").into(),
        TimelineEvent::Approved { edited: true, .. } => {
            t!("{actor} edited and approved the draft").into()
        }
        TimelineEvent::Approved { edited: false, .. } => t!("{actor} approved the draft").into(),
        TimelineEvent::Undone { .. } => t!("{actor} stopped the message").into(),
        TimelineEvent::SentNow { .. } => t!("{actor} let the message leave at once").into(),
        TimelineEvent::Discarded { reason, .. } => match reason.as_str() {
            "" => t!("{actor} discarded the draft").into(),
            reason => t!("{actor} discarded the draft: {reason}", reason),
        },
        TimelineEvent::DraftRetired { by: RetiredBy::Customer, .. } => {
            t!("{actor} took the helper's draft back, the customer wrote again").into()
        }
        TimelineEvent::DraftRetired { by: RetiredBy::Team, .. } => {
            t!("{actor} took the helper's draft back by writing").into()
        }
        TimelineEvent::TargetMissed { target: TargetKind::Answer, due } => {
            let time = times.long(due.0).text;
            t!("{actor} missed the target: a first answer by {time}", time)
        }
        TimelineEvent::TargetMissed { target: TargetKind::Close, due } => {
            let time = times.long(due.0).text;
            t!("{actor} missed the target: closed by {time}", time)
        }
        TimelineEvent::Requested { .. } => t!("{actor} asked for documents").into(),
        TimelineEvent::Uploaded { .. } => t!("{actor} received an upload").into(),
        TimelineEvent::Reminded { .. } => {
            t!("{actor} reminded the customer of the documents").into()
        }
        TimelineEvent::RemindersStopped { .. } => {
            t!("{actor} heard that the customer wants no more reminders").into()
        }
        TimelineEvent::RequestClosed { .. } => t!("{actor} closed the document request").into(),
        TimelineEvent::RequestReopened { .. } => {
            t!("{actor} opened the document request again").into()
        }
        TimelineEvent::RequestRevoked { .. } => t!("{actor} took the upload link back").into(),
        TimelineEvent::Completed { .. } => t!("{actor} has everything that was asked for").into(),
        TimelineEvent::Bounced { recipients: None, .. } => {
            t!("{actor} could not deliver the message").into()
        }
        TimelineEvent::Bounced { recipients: Some(refused), .. } => {
            t!("{actor} could not deliver the message to {names}", names = refused.join(", "))
        }
        TimelineEvent::SendDiscarded { .. } => {
            t!("{actor} discarded the message before it left").into()
        }
        TimelineEvent::SendHeld { .. } => t!("{actor} held the message in the queue").into(),
        TimelineEvent::SendReleased { .. } => t!("{actor} released the message").into(),
        TimelineEvent::SendRetried { .. } => t!("{actor} had the message tried again").into(),
        TimelineEvent::SendDelayed { reason, .. } => {
            let reason = sentence(reason);
            t!("{actor} could not send the message yet: {reason}. It is tried again", reason)
        }
        TimelineEvent::SendFailed { reason, .. } => {
            t!("{actor} could not send the message: {reason}", reason = sentence(reason))
        }
        TimelineEvent::Sorted { .. } => sorted_words(event),
        TimelineEvent::FieldsChanged { fields } => {
            t!("{actor} set fields: {fields}", fields = values_in_words(fields))
        }
        TimelineEvent::PanelPressed { button } => {
            t!("{actor} pressed “{button}” in the customer panel", button)
        }
        TimelineEvent::Linked { name, .. } => t!("{actor} linked {name}", name),
        TimelineEvent::Unlinked { name, .. } => t!("{actor} removed the link to {name}", name),
        TimelineEvent::LinkedItemClosed { name } => {
            t!("{actor} was told that {name} was closed", name)
        }
        TimelineEvent::SpamComplaint { .. } => {
            t!("{actor} heard that the customer reported the message as spam").into()
        }
        TimelineEvent::Opened { email, .. } => {
            t!("{actor} saw that {email} opened the protected message", email)
        }
        TimelineEvent::SecureRevoked { .. } => t!("{actor} took the protected message back").into(),
        TimelineEvent::LinkAsked { email, .. } => {
            t!("{actor} was asked by {email} for a new link to the protected message", email)
        }
        TimelineEvent::HandedOver { to: None } => t!("{actor} handed this over to the team").into(),
        TimelineEvent::HandedOver { to: Some(to) } => {
            t!("{actor} handed this over to {name}", name = to)
        }
        TimelineEvent::Rated { score, comment: None } => {
            t!("{actor} heard from the customer how it was: {score} of 5", score)
        }
        TimelineEvent::Rated { score, comment: Some(comment) } => {
            t!(
                "{actor} heard from the customer how it was: {score} of 5, “{comment}”",
                score,
                comment
            )
        }
        TimelineEvent::NoteHidden { .. } => {
            t!("{actor} hid a note, undoing what its agent did").into()
        }
        TimelineEvent::Booked { .. } => t!("{actor} booked a time").into(),
        TimelineEvent::BookingCancelled { .. } => t!("{actor} cancelled a booking").into(),
        TimelineEvent::BookingPlanned { act, .. } => match act.as_str() {
            "move" => t!("{actor} moves a booking unless somebody stops it").into(),
            "cancel" => t!("{actor} cancels a booking unless somebody stops it").into(),
            _ => t!("{actor} books a time unless somebody stops it").into(),
        },
        TimelineEvent::BookingStopped { .. } => t!("{actor} stopped a change of a booking").into(),
        TimelineEvent::Merged { subject, .. } => {
            t!("{actor} merged the conversation “{subject}” into this one", subject)
        }
        TimelineEvent::MergeUndone { .. } => t!("{actor} undid a merge").into(),
        TimelineEvent::Split { .. } => {
            t!("{actor} split a message off into a conversation of its own").into()
        }
        TimelineEvent::SplitFrom { .. } => {
            t!("{actor} split this off from another conversation").into()
        }
        TimelineEvent::LinkLocked { email, .. } => {
            t!("{actor} locked the page of {email} for a day: too many wrong codes", email)
        }
    }
}
