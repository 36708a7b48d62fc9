//! The events themselves (API section 6.2): a struct for each, which is both what is sent and what
//! the schema promises.

use base::actor::Actor;
use base::assignee::Assignee;
use base::ids::{
    AgentId, BookingId, BookingTypeId, ConversationId, MailboxId, MessageId, RequestId, UserId,
    WebhookId,
};
use base::security::agent_policy::PauseReason;
use base::states::ConversationRisk;
use base::time::Moment;
use serde::Serialize;

use super::event_values::{AskKind, DraftAuthor, EventActor, EventAuthor, EventValue};
use super::{EventField, Turn, WebhookEvent, WebhookEventType};
use crate::conversations::timeline::TargetKind;
use crate::messages::send_failure::SendFailure;

/// Declares an event once: its name, when it is sent, the fields of `data` but `summary` and `url`,
/// and its summary. `opt_in` is for those that only webhooks hear that choose them. The fields are the
/// event's own, or after `=` those of a struct that several have.
macro_rules! event {
    (
        $name:literal, $when:literal $(, $opt_in:ident)?;
        $event:ident { $($fields:tt)+ }
        |$this:pat_param, $actor:pat_param| $summary:expr
    ) => {
        event_fields! { #[doc = concat!("`", $name, "`: ", $when, ".")] $event { $($fields)+ } }
        event! { @impl $name, $when $(, $opt_in)?; $event, $event, |$this, $actor| $summary }
    };
    (
        $name:literal, $when:literal;
        $event:ident = $fields:ident
        |$this:pat_param, $actor:pat_param| $summary:expr
    ) => {
        #[doc = concat!("`", $name, "`: ", $when, ".")]
        #[derive(Serialize)]
        #[serde(transparent)]
        pub struct $event<'a>(pub $fields<'a>);

        event! { @impl $name, $when; $event, $fields, |$this, $actor| $summary }
    };
    (
        @impl $name:literal, $when:literal $(, $opt_in:ident)?;
        $event:ident, $fields:ident, |$this:pat_param, $actor:pat_param| $summary:expr
    ) => {
        impl WebhookEvent for $event<'_> {
            const TYPE: WebhookEventType =
                WebhookEventType::new($name, $when, $fields::event_fields)$(.$opt_in())?;

            fn summary(&self, actor: &Actor) -> String {
                let ($this, $actor) = (self, actor.name());
                $summary.into()
            }
        }
    };
}

/// The fields of events. One with `= optional` is missing when it is `None`.
macro_rules! event_fields {
    (
        #[doc = $doc:expr]
        $name:ident { $($(#[$meta:meta])* $field:ident: $type:ty $(= $optional:ident)?),+ $(,)? }
    ) => {
        #[doc = $doc]
        #[derive(Serialize)]
        pub struct $name<'a> {
            $(
                $(#[$meta])*
                $(
                    #[doc = concat!("It is ", stringify!($optional), ".")]
                    #[serde(skip_serializing_if = "Option::is_none")]
                )?
                pub $field: $type,
            )+
        }

        impl<'a> $name<'a> {
            fn event_fields() -> Vec<EventField> {
                vec![$(
                    EventField::new(stringify!($field), <$type as EventValue>::schema())
                        $(.$optional())?
                ),+]
            }
        }
    };
}

event! {
    "ask.completed", "Everything asked of a client is in";
    AskCompleted {
        ask_id: &'a RequestId,
        kind: AskKind,
        conversation_id: &'a ConversationId,
    }
    |_, _| "Everything asked of the customer is in"
}

event! {
    "client.replied", "Someone wrote back on a conversation";
    ClientReplied {
        conversation_id: &'a ConversationId,
        message_id: &'a MessageId,
        mailbox_id: &'a MailboxId,
        /// It was written on a secure page.
        secure: bool,
        reference: Option<&'a str> = optional,
    }
    |_, _| "The customer wrote back on a conversation"
}

event! {
    "conversation.assigned", "A conversation was given to someone or to nobody";
    ConversationAssigned {
        conversation_id: &'a ConversationId,
        assignee: Option<&'a Assignee>,
        assigned_by: EventActor<'a>,
    }
    |event, name| match event.assignee {
        Some(assignee) => format!("{name} assigned a conversation to {}", assignee.name),
        None => format!("{name} took a conversation off its assignee"),
    }
}

event! {
    "turn.changed", "Whose turn it is changed";
    TurnChanged {
        conversation_id: &'a ConversationId,
        turn: Turn,
        previous: Option<Turn>,
        assignee: Option<&'a Assignee>,
    }
    |event, _| match event.turn {
        Turn::Ours => "A conversation is the team's turn",
        Turn::Theirs => "A conversation is waiting on the customer",
        Turn::Done => "A conversation was closed",
    }
}

event! {
    "draft.approved", "A person approved a draft";
    DraftApproved {
        conversation_id: &'a ConversationId,
        message_id: &'a MessageId,
        drafted_by: DraftAuthor<'a>,
        approved_by: EventActor<'a>,
        edited: bool,
    }
    |_, name| format!("{name} approved a draft")
}

event! {
    "message.sent", "An e-mail went out";
    MessageSent {
        conversation_id: &'a ConversationId,
        message_id: &'a MessageId,
        mailbox_id: &'a MailboxId,
        author: Option<EventAuthor<'a>>,
        /// It went out as a link to a secure page.
        secure: bool,
    }
    |_, _| "A message went out to the customer"
}

event_fields! {
    /// What the events of a booking say.
    BookingEventFields {
        booking_id: &'a BookingId,
        booking_type_id: &'a BookingTypeId,
        host_user_id: &'a UserId,
        conversation_id: Option<&'a ConversationId>,
        starts_at: Moment,
        ends_at: Moment,
        /// The booking that it replaces, and the one that replaces it.
        rescheduled_from: Option<&'a BookingId>,
        rescheduled_to: Option<&'a BookingId>,
    }
}

event! {
    "booking.created", "Someone booked a time";
    BookingCreated = BookingEventFields
    |_, _| "A time was booked"
}

event! {
    "booking.cancelled", "A booking was cancelled";
    BookingCancelled = BookingEventFields
    |_, _| "A booking was cancelled"
}

event! {
    "scout.held", "A likely scam was held";
    ScoutHeld {
        conversation_id: &'a ConversationId,
    }
    |_, _| "A mail that looks like a scam was held"
}

event! {
    "conversation.created", "A conversation began", opt_in;
    ConversationCreated {
        conversation_id: &'a ConversationId,
        mailbox_id: &'a MailboxId,
    }
    |_, _| "A conversation began"
}

event! {
    "message.failed", "An e-mail could not be delivered", opt_in;
    MessageFailed {
        conversation_id: &'a ConversationId,
        message_id: &'a MessageId,
        mailbox_id: &'a MailboxId,
        reason: &'a SendFailure,
    }
    |_, _| "A message could not be delivered"
}

event! {
    "agent.paused", "An agent was paused: its key only reads now", opt_in;
    AgentPaused {
        agent_id: &'a AgentId,
        agent_name: &'a str,
        paused_by: EventActor<'a>,
        reason: PauseReason,
        /// Messages that had not left and are drafts again.
        stopped: i64,
    }
    |event, name| format!("{name} paused the agent {}", event.agent_name)
}

event! {
    "message.flagged", "A message came in that looks dangerous or gives orders to software", opt_in;
    MessageFlagged {
        conversation_id: &'a ConversationId,
        message_id: &'a MessageId,
        /// What was found.
        kinds: &'a [ConversationRisk],
    }
    |_, _| "A message came in that looks dangerous"
}

event! {
    "satisfaction.rated", "A customer said how a closed conversation was", opt_in;
    SatisfactionRated {
        conversation_id: &'a ConversationId,
        /// From 1 to 5, the best.
        score: i64,
        comment: Option<&'a str> = optional,
    }
    |event, _| format!("A customer rated a conversation with {} of 5", event.score)
}

event! {
    "draft.waiting", "A draft waits for a person to approve it", opt_in;
    DraftWaiting {
        conversation_id: &'a ConversationId,
        message_id: &'a MessageId,
        drafted_by: EventActor<'a>,
    }
    |_, name| format!("A draft of {name} waits for approval")
}

event! {
    "target.missed", "A response target was missed", opt_in;
    TargetMissed {
        conversation_id: &'a ConversationId,
        target: TargetKind,
    }
    |event, _| match event.target {
        TargetKind::Answer => "The first answer is late",
        TargetKind::Close => "A conversation was to be closed by now",
    }
}

event! {
    "webhook.test", "Someone pressed Send test event";
    WebhookTest {
        endpoint_id: &'a WebhookId,
    }
    |_, name| format!("{name} sent a test event")
}
