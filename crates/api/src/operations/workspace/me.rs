//! `GET /me`: the key, its agent and its scopes.

use base::actor::Principal;
use base::app::Cx;
use base::error::{Error, Result};
use base::security::agent_policy::AgentPolicy;
use base::security::scopes::Scope;
use base::time::Moment;

use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer};
use crate::wire::{AgentName, Me, PolicyOfKey};

pub const OPERATION: Operation = Operation {
    name: "me",
    method: Method::Get,
    path: "/me",
    tool: Some(Tool {
        name: "whoami",
        about: "Who you are here: scopes, policy, live or sandbox, time. Use it once.",
        help: "Who you are here, what your key and its policy allow, live or sandbox, and the time. Use \
                it once when you begin. The customer notices nothing.",
        hints: &[],
        example: "{}",
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "Who this key is",
    about: "The agent that this key acts as, its scopes, whether it works on live data, and the \
            server's time. `policy` has the limits of the key beside its scopes.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Me>(),
    example_input: "",
    example_output: r#"{
        "agent": { "id": "agt_01kag0y5c0e2r8t4vq3w6n9m1z", "name": "Robo" },
        "scopes": ["read", "write", "draft"],
        "livemode": true,
        "now": "2026-11-15T09:14:03.120Z",
        "policy": {
            "paused": false,
            "recipients": "conversation",
            "domains": [],
            "firstContact": "approve",
            "messagesPerHour": 60,
            "draftsPerHour": 120,
            "bookingsPerHour": 20,
            "bulkPerMinutes": { "conversations": 50, "minutes": 5 },
            "links": "conversation",
            "files": true,
            "amountAbove": null,
            "hours": "always",
            "markedMail": "handOver",
            "perCustomerPerDay": null,
            "undoMinutes": 10,
            "secrets": "protected"
        }
    }"#,
    run: |_, cx, _| answer(&me(cx)?),
};

fn me(cx: &Cx<'_>) -> Result<Me> {
    let Principal::Agent { id, name, scopes, policy, paused } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a key has an agent.".into()));
    };
    Ok(Me {
        agent: AgentName { id: id.clone(), name: name.clone() },
        scopes: scopes.as_slice().to_vec(),
        livemode: cx.actor.livemode(),
        now: Moment(cx.now),
        policy: PolicyOfKey { paused: *paused, policy: AgentPolicy::clone(policy) },
    })
}
