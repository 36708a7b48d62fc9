//! The sentences of what waits in the queues, and of why a message was not delivered.

use jobs::queues::{QueueItem, QueueKind, QueueState, WaitReason};
use model::messages::send_failure::SendFailure;
use translation::{sentence, t};

/// Why a message was not delivered, in the reader's language; the server's own words as they are.
pub fn failure_words(failure: &SendFailure) -> String {
    let (plain, reply) = failure.split_text();
    let plain = sentence(plain);
    match reply {
        Some(reply) => format!("{plain} {}", t!("The server said: “{reply}”", reply)),
        None => plain.into_owned(),
    }
}

/// Why a thing waits, is held, or is not tried any more.
pub fn why(item: &QueueItem) -> String {
    let last = item.last_outcome.as_ref().map(failure_words).unwrap_or_default();
    let told = match item.wait_reason {
        WaitReason::Held => {
            let by = item.held_by.as_deref().unwrap_or_default();
            return t!("Held by {by}. It stays until it is released.", by = sentence(by));
        }
        WaitReason::BeingSent => t!("It is being sent at this moment."),
        WaitReason::Quiet => t!("Mailroom is in quiet mode: nothing leaves."),
        WaitReason::NoServer => t!("There is no server for outgoing mail."),
        WaitReason::ServerFailing => t!("The server of the inbox fails."),
        WaitReason::WebhookPaused => t!("The webhook is paused."),
        WaitReason::WebhookOff => t!("The webhook is off."),
        WaitReason::Scheduled => t!("It waits for its time."),
        WaitReason::Due => t!("It is next."),
        WaitReason::Deferred => t!("It is tried again."),
        WaitReason::Failed if item.kind == QueueKind::Webhooks => {
            t!("It was dropped and is not tried any more.")
        }
        WaitReason::Failed => t!("It was not delivered."),
        WaitReason::GivenUp => t!("It was given up."),
    };
    if last.is_empty() { told.into() } else { format!("{told} {last}") }
}

/// The state in a word.
pub fn state_word(state: QueueState) -> &'static str {
    match state {
        QueueState::Waiting => t!("Waiting in the queue"),
        QueueState::Retrying => t!("Tried again"),
        QueueState::Sending => t!("Being sent"),
        QueueState::Held => t!("Held"),
        QueueState::Failed => t!("Failed"),
        QueueState::GivenUp => t!("Given up"),
    }
}
