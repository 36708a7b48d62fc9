//! `GET /team`: the people and agents who work here.

use base::app::Cx;
use base::error::Result;
use base::security::scopes::Scope;
use db::Tx;
use model::people::members::{self, Person};

use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer};
use crate::wire::{TeamJson, TeamListJson, TeamPersonJson};

pub const OPERATION: Operation = Operation {
    name: "list_team",
    method: Method::Get,
    path: "/team",
    tool: Some(Tool {
        name: "list_team",
        about: "People and agents: ids for assigning, what each looks after.",
        help: "Lists people and agents: names, roles, what each looks after. Use it to \
                decide whom to assign to or to mention. The customer notices nothing.",
        hints: &[],
        example: "{}",
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List the team",
    about: "The people with their roles and what they look after, and the agents. A test key sees \
            the agents of the sandbox alone.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<TeamListJson>(),
    example_input: "",
    example_output: r#"{
        "people": [{
            "id": "user:usr_01kag0x2p4r6t8v1w3y5z7a9bc",
            "name": "Ines Marti",
            "role": "admin",
            "duty": "Shipping and returns, mornings"
        }],
        "agents": [{ "id": "agent:agt_01kag0y5c0e2r8t4vq3w6n9m1z", "name": "Robo" }]
    }"#,
    run: |tx, cx, _| answer(&list_team(tx, cx)?),
};

fn list_team(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<TeamListJson> {
    let (circle, _) = cx.actor.circles.pair();
    let people = match circle.is_sandbox() {
        true => Vec::new(),
        false => members::people(tx, cx.actor.ws)?,
    };
    let person = |Person { id, name, role, duty }| TeamPersonJson {
        id: format!("user:{id}"),
        name,
        role,
        duty,
    };
    let TeamJson { agents, .. } = members::team(tx, cx.actor.ws, circle)?.into();
    Ok(TeamListJson { people: people.into_iter().map(person).collect(), agents })
}
