//! `GET /topics`: what mail can be about, with the number of open conversations.

use base::app::Cx;
use base::error::Result;
use base::security::scopes::Scope;
use db::Tx;
use model::conversations::topics;
use model::figures::counters::{self, CounterKind};

use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer};
use crate::wire::TopicJson;

pub const OPERATION: Operation = Operation {
    name: "list_topics",
    method: Method::Get,
    path: "/topics",
    tool: Some(Tool {
        name: "list_topics",
        about: "The topics that mail is sorted by.",
        help: "Lists the topics that mail is sorted by, with the words that describe them. \
                Use it before set_sorting. The customer notices nothing.",
        hints: &[],
        example: r#"{}"#,
        list: Some("topics"),
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List topics",
    about: "Every topic of the workspace by name, with how many of the open conversations this key \
            can see are about it.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<TopicJson>>(),
    example_input: "",
    example_output: r#"[{
        "id": "tpc_01kag0v1b3n5m7k9j2h4g6f8ds",
        "name": "Refunds",
        "words": "money back, return, wrong amount",
        "open": 4
    }]"#,
    run: |tx, cx, _| answer(&list_topics(tx, cx)?),
};

pub fn list_topics(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<TopicJson>> {
    let open = counters::of_kind(tx, cx.actor, CounterKind::OpenOfTopic)?;
    let topics = topics::all(tx, cx.actor.ws)?;
    Ok(topics
        .into_iter()
        .map(|topic| TopicJson {
            open: open.get(topic.id.as_str()).copied().unwrap_or(0),
            id: topic.id,
            name: topic.name,
            words: topic.words,
        })
        .collect())
}
