//! `GET /answers`: what the team knows, by a question.

use base::app::Cx;
use base::error::Result;
use base::limits::{LIST_ITEMS, LIST_ITEMS_DEFAULT, QUERY_CHARS};
use base::scopes::Scope;
use base::time::Moment;
use db::Tx;
use model::messages::answers;
use serde::Deserialize;

use super::{Access, Method, Operation, ScopeRule, Tool, answer, typed};
use crate::fields::{InputField, InputKind, Rule};
use crate::wire::AnswerJson;

pub const OPERATION: Operation = Operation {
    name: "search_answers",
    method: Method::Get,
    path: "/answers",
    tool: Some(Tool {
        name: "search_answers",
        about: "Searches what the team knows, best match first: answers and saved replies. \
                Use it before you draft, with the customer's question as q, and draft from \
                what you find, not from what you guess. Fill in placeholders such as \
                {{first_name}}. The customer notices nothing.",
        example: r#"{ "q": "fee was taken twice", "language": "en", "limit": 3 }"#,
        list: Some("answers"),
        loses: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    repeatable: true,
    title: "Search the team's answers",
    about: "Answers and saved replies that this key can see, best match first; without q, the newest \
            first. What is retired or past its last day is left out.",
    fields: &[
        InputField::optional(
            "q",
            InputKind::Text { min: 0, max: QUERY_CHARS, rule: Rule::Any },
            "A question or words. Words in the title count most; spelling is forgiven.",
        ),
        InputField::optional(
            "language",
            InputKind::Text { min: 2, max: 2, rule: Rule::Language },
            "Only answers in this language, two letters such as en.",
        ),
        InputField::optional(
            "limit",
            InputKind::Whole { min: 1, max: LIST_ITEMS },
            "How many at the most.",
        )
        .or("25"),
    ],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<AnswerJson>>(),
    example_input: "",
    example_output: r#"[{
        "id": "ans_01kag0v1b3n5m7k9j2h4g6f8ds",
        "title": "Fee taken twice",
        "text": "Hello {{first_name}}, a second debit goes back within five bank days.",
        "language": "en",
        "updatedAt": "2026-11-03T08:20:00.000Z",
        "kind": "answer"
    }]"#,
    run: |tx, cx, input| answer(&search_answers(tx, cx, typed(input)?)?),
};

#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    q: String,
    language: Option<String>,
    limit: Option<i64>,
}

fn search_answers(tx: &mut Tx<'_>, cx: &Cx<'_>, input: Input) -> Result<Vec<AnswerJson>> {
    let mut known = answers::in_use(tx, cx.actor.ws, &cx.actor.circles, cx.now)?;
    if let Some(language) = &input.language {
        known.retain(|answer| answer.language.as_ref() == Some(language));
    }
    let limit = input.limit.unwrap_or(LIST_ITEMS_DEFAULT) as usize;
    let found = answers::best_matches(known, &input.q).into_iter().take(limit);
    Ok(found
        .map(|answer| AnswerJson {
            id: answer.id,
            title: answer.title,
            text: answer.body,
            language: answer.language,
            updated_at: Moment(answer.changed_at),
            kind: answer.kind,
        })
        .collect())
}
