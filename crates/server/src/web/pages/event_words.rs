//! The sentences of timeline events.

use inbox::base::states::{ConversationRisk, Status};
use inbox::{RetiredBy, StoredTimelineEvent, TargetKind, TimelineEvent, WokenBy};

use crate::web::layout::wording::TimeFormat;
use crate::web::pages::sorting::sorted_words;

/// What happened, in the past tense, after the actor's name. An event that a newer version wrote
/// is shown by its name.
pub fn words(event: &StoredTimelineEvent, times: &TimeFormat) -> String {
    match event {
        StoredTimelineEvent::Known(event) => sentence(event, times),
        StoredTimelineEvent::Unknown(name) => name.clone(),
    }
}

fn sentence(event: &TimelineEvent, times: &TimeFormat) -> String {
    match event {
        TimelineEvent::StatusChanged { to: Status::Open, .. } => "opened this again".into(),
        TimelineEvent::StatusChanged { to: Status::Waiting, .. } => {
            "set this to waiting on the customer".into()
        }
        TimelineEvent::StatusChanged { to: Status::Closed, .. } => "closed this".into(),
        TimelineEvent::Assigned { to: Some(to), .. } => format!("gave this to {}", to.name),
        TimelineEvent::Assigned { to: None, .. } => "took this off its assignee".into(),
        TimelineEvent::Tagged { added, removed } => {
            match (added.join(", ").as_str(), removed.join(", ").as_str()) {
                (added, "") => format!("added the tag {added}"),
                ("", removed) => format!("removed the tag {removed}"),
                (added, removed) => format!("added the tag {added} and removed {removed}"),
            }
        }
        TimelineEvent::Snoozed { until } => {
            format!("snoozed this until {}", times.long(until.0).text)
        }
        TimelineEvent::FollowUp { until } => {
            format!("brings this back {} if nobody answers", times.leaving(until.0))
        }
        TimelineEvent::Woken { by: WokenBy::NoAnswer } => {
            "brought this back, nobody answered".into()
        }
        TimelineEvent::Woken { by: WokenBy::Clock } => {
            "brought this back, its time had come".into()
        }
        TimelineEvent::Woken { by: WokenBy::Customer } => {
            "brought this back, the customer answered".into()
        }
        TimelineEvent::Held { risk } => {
            format!("held this: {}", risk.map_or("", ConversationRisk::as_str))
        }
        TimelineEvent::WarningRemoved {} => "checked this and removed the warning".into(),
        TimelineEvent::Spam {} => "moved this to the spam".into(),
        TimelineEvent::NotSpam {} => "said that this is no spam".into(),
        TimelineEvent::Deleted {} => "deleted this".into(),
        TimelineEvent::Restored {} => "took this out of the trash".into(),
        TimelineEvent::Released {} => "released this to the inbox".into(),
        TimelineEvent::Approved { edited: true, .. } => "edited and approved the draft".into(),
        TimelineEvent::Approved { edited: false, .. } => "approved the draft".into(),
        TimelineEvent::Undone { .. } => "stopped the message".into(),
        TimelineEvent::Discarded { reason, .. } => match reason.as_str() {
            "" => "discarded the draft".into(),
            reason => format!("discarded the draft: {reason}"),
        },
        TimelineEvent::DraftRetired { by: RetiredBy::Customer, .. } => {
            "took the helper's draft back, the customer wrote again".into()
        }
        TimelineEvent::DraftRetired { by: RetiredBy::Team, .. } => {
            "took the helper's draft back by writing".into()
        }
        TimelineEvent::TargetMissed { target: TargetKind::Answer, due } => {
            format!("missed the target: a first answer by {}", times.long(due.0).text)
        }
        TimelineEvent::TargetMissed { target: TargetKind::Close, due } => {
            format!("missed the target: closed by {}", times.long(due.0).text)
        }
        TimelineEvent::Requested { .. } => "asked for documents".into(),
        TimelineEvent::Uploaded { .. } => "received an upload".into(),
        TimelineEvent::Reminded { .. } => "reminded the customer of the documents".into(),
        TimelineEvent::RemindersStopped { .. } => {
            "heard that the customer wants no more reminders".into()
        }
        TimelineEvent::RequestClosed { .. } => "closed the document request".into(),
        TimelineEvent::RequestReopened { .. } => "opened the document request again".into(),
        TimelineEvent::RequestRevoked { .. } => "took the upload link back".into(),
        TimelineEvent::Completed { .. } => "has everything that was asked for".into(),
        TimelineEvent::Bounced { recipients: None, .. } => "could not deliver the message".into(),
        TimelineEvent::Bounced { recipients: Some(refused), .. } => {
            format!("could not deliver the message to {}", refused.join(", "))
        }
        TimelineEvent::SendDelayed { reason, .. } => {
            format!("could not send the message yet: {reason}. It is tried again")
        }
        TimelineEvent::SendFailed { reason, .. } => format!("could not send the message: {reason}"),
        TimelineEvent::Sorted { .. } => sorted_words(event),
        TimelineEvent::SpamComplaint { .. } => {
            "heard that the customer reported the message as spam".into()
        }
        TimelineEvent::Opened { email, .. } => {
            format!("saw that {email} opened the protected message")
        }
        TimelineEvent::SecureRevoked { .. } => "took the protected message back".into(),
        TimelineEvent::LinkAsked { email, .. } => {
            format!("was asked by {email} for a new link to the protected message")
        }
        TimelineEvent::Booked { .. } => "booked a time".into(),
        TimelineEvent::BookingCancelled { .. } => "cancelled a booking".into(),
        TimelineEvent::Merged { subject, .. } => {
            format!("merged the conversation “{subject}” into this one")
        }
        TimelineEvent::MergeUndone { .. } => "undid a merge".into(),
        TimelineEvent::Split { .. } => "split a message off into a conversation of its own".into(),
        TimelineEvent::SplitFrom { .. } => "split this off from another conversation".into(),
        TimelineEvent::LinkLocked { email, .. } => {
            format!("locked the page of {email} for a day: too many wrong codes")
        }
    }
}
