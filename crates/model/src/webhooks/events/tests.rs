//! Events say exactly the fields that their types promise.

use base::ids::WorkspaceId;

use crate::webhooks::events::*;

#[test]
fn each_event_has_the_fields_of_its_type() {
    let ws = WorkspaceId::parse("wsp_1").expect("an id");
    let actor = Actor::system(1, ws, Circle::team());
    let message = &MessageId::parse("msg_1").expect("an id");
    let mailbox = &MailboxId::parse("mbx_1").expect("an id");
    let request = &RequestId::parse("req_1").expect("an id");
    let endpoint = &WebhookId::parse("whk_1").expect("an id");
    for event in [
        Event::ClientReplied { message, mailbox, reference: None, secure: false },
        Event::ClientReplied { message, mailbox, reference: Some("4711"), secure: true },
        Event::ConversationAssigned { assignee: None },
        Event::TurnChanged { turn: Turn::Ours, previous: None, assignee: None },
        Event::DraftApproved { message, drafted_by: None, edited: false },
        Event::MessageSent { message, mailbox, author: None, secure: true },
        Event::ScoutHeld,
        Event::ConversationCreated { mailbox },
        Event::MessageFailed { message, mailbox, failure: &SendFailure::unknown() },
        Event::AskCompleted { request },
        Event::WebhookTest { endpoint },
    ] {
        let EventContent { event_type, fields: own, .. } = event.content(&actor);
        assert!(EVENTS.iter().any(|known| known.name == event_type.name));
        let fields = (event_type.fields)();
        let (fields, own) = (fields.as_object().expect("fields"), own.as_object().expect("data"));
        for name in own.keys() {
            let optional = format!("{name}?");
            let known = fields.contains_key(name) || fields.contains_key(&optional);
            assert!(known, "{}: {name} is not in the table", event_type.name);
        }
        // The conversation's id is added when the event is recorded.
        let required = fields.keys().filter(|name| !name.ends_with('?'));
        for name in required.filter(|name| *name != "conversation_id") {
            assert!(own.contains_key(name), "{}: {name} is missing", event_type.name);
        }
    }
}
