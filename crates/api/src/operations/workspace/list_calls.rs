//! `GET /calls`: what a key called, and what came of it.

use base::actor::Principal;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::AgentId;
use base::limits::{FILTER_CHARS, LIST_ITEMS, LIST_ITEMS_DEFAULT};
use base::security::scopes::Scope;
use base::time::NamedTime;
use db::Tx;
use model::people::agent_calls::{self, AgentCall, CallFilter};

use crate::fields::{TIME, integer, text};
use crate::input::input;
use crate::operations::{Access, ListPage, Method, Operation, ScopeRule, page, parse_input};
use crate::wire::CallJson;

pub const OPERATION: Operation = Operation {
    name: "list_calls",
    method: Method::Get,
    path: "/calls",
    tool: None,
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List own calls",
    about: "The requests of this key, the latest first: when, which operation, the status and the id of the \
            request. They are kept for 90 days. Another key's are not found.",
    fields: ListCallsInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<CallJson>>(),
    example_input: "",
    example_output: r#"[{
        "time": "2026-11-15T09:14:03.120Z",
        "operation": "reply",
        "status": 201,
        "requestId": "Zr3kQ0c1d9x8w7v6u5t4"
    }]"#,
    run: |tx, cx, input| {
        let items = list_calls(tx, cx, parse_input(input)?)?;
        page(ListPage { items, next: None })
    },
};

input! {
    struct ListCallsInput {
        /// The id of this key's agent (agt_…), as `GET /me` has it; its own without it.
        #[optional(text(FILTER_CHARS))]
        key: Option<String>,
        /// Only those of this day (UTC, such as 2026-11-30) or time, or later.
        #[optional(TIME)]
        since: Option<String>,
        /// How many at the most.
        #[optional(integer(1, LIST_ITEMS))]
        limit: Option<i64> = LIST_ITEMS_DEFAULT,
    }
}

fn list_calls(tx: &mut Tx<'_>, cx: &Cx<'_>, input: ListCallsInput) -> Result<Vec<CallJson>> {
    let Principal::Agent { id: own, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a key has an agent.".into()));
    };
    if input.key.as_deref().is_some_and(|key| AgentId::parse(key).as_ref() != Some(own)) {
        return Err(Error::NotFound("key"));
    }
    let since = input.since.as_deref().and_then(NamedTime::parse);
    let filter =
        CallFilter { since: since.map_or(i64::MIN, |since| since.begins), ..CallFilter::default() };
    let most = input.limit.unwrap_or(LIST_ITEMS_DEFAULT);
    let calls = agent_calls::list(tx, cx.actor.ws, own, &filter, most)?;
    Ok(calls.into_iter().map(CallJson::from).collect())
}

impl From<AgentCall> for CallJson {
    fn from(call: AgentCall) -> CallJson {
        CallJson {
            time: call.at,
            operation: call.operation,
            status: call.status,
            request_id: call.request,
        }
    }
}
