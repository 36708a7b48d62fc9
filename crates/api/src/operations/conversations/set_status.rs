//! `POST /conversations/{id}/status`: opens or closes a conversation.

use base::app::Cx;
use base::error::Result;
use base::security::scopes::Scope;
use base::states::Status;
use db::Tx;
use model::conversations::conversation_state::ConversationState;
use model::conversations::{self, agent_acts, sorting};

use crate::fields::one_of;
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::Done;

pub const OPERATION: Operation = Operation {
    name: "set_status",
    method: Method::Post,
    path: "/conversations/{id}/status",
    tool: Some(Tool {
        name: "set_status",
        about: "Our turn (open), the customer's (waiting) or closed. Sending and new mail set \
                it.",
        help: "Sets where a conversation stands: open (our turn), waiting (on the customer) \
                or closed. Use it when the work calls for it: sending moves open to waiting \
                by itself, and mail opens it again. The customer notices nothing. A change \
                ends a snooze.",
        hints: &[],
        example: r#"{ "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe", "status": "waiting" }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Set the status",
    about: "Moves a conversation to open, waiting (on the customer) or closed. Setting the status \
            it has changes nothing; a change ends a snooze.",
    fields: SetStatusInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Done>(),
    example_input: r#"{ "status": "closed" }"#,
    example_output: r#"{ "ok": true }"#,
    run: |tx, cx, input| answer(&set_status(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct SetStatusInput {
        /// The status to set.
        #[required(one_of(Status::NAMES))]
        pub status: Status,
    } beside {
        pub id: String,
    }
}

pub fn set_status(tx: &mut Tx<'_>, cx: &Cx<'_>, input: SetStatusInput) -> Result<Done> {
    let mut conversation = conversations::load(tx, cx.actor, &input.id)?;
    // Who closes held mail agrees that it is spam.
    if conversation.held && input.status == Status::Closed {
        sorting::teach_spam(tx, cx, &conversation, true)?;
    }
    let before = ConversationState::of(&conversation);
    conversations::set_status(tx, cx, &mut conversation, input.status)?;
    let after = conversations::load_itself(tx, cx.actor, conversation.id.as_str())?;
    agent_acts::note_single_change(tx, cx, &before, &after)?;
    Ok(Done::OK)
}
