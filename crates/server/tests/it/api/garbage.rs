//! Whatever is thrown at the door, it answers: a success, or one sentence and nothing done.

use std::fmt::Debug;

use api::operations::{self, OPERATIONS, Operation, ScopeRule};
use axum::body::Body;
use axum::http::{HeaderValue, Request};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use url::form_urlencoded::byte_serialize;

use super::{
    ALL, ALL_AND_ADMIN, IN_SANDBOX, OPS, a_conversation, a_test_conversation, beside, op, rows,
};
use crate::support::{Answer, MINUTE, SECOND, TestApp, TestKey, on_both, request};

on_both!(
    no_garbage_is_a_failure_or_half_done,
    no_garbage_in_the_sandbox_is_a_failure_or_half_done,
    no_text_in_any_field_is_a_failure,
    no_search_is_a_failure,
    no_key_or_origin_is_a_failure
);

/// Requests thrown in each test.
const SHOTS: u32 = 400;
/// Tries at making a failing request smaller.
const SHRINKS: u32 = 300;

/// Text that has broken something somewhere.
const NASTY: &[&str] = &[
    "",
    " ",
    "\0",
    "a\0b",
    "'; DROP TABLE notes; --",
    "\"",
    "\"\"\"",
    "\\",
    "%",
    "%00",
    "* OR (a AND NOT b) NEAR/2",
    "a:* & !b | (c <-> d)",
    "^a {b} -c +d",
    "{}[]()<>@!#$^&*~`|/?=",
    "\u{feff}x",
    "\u{202e}evil",
    "\u{fdfa}",
    "e\u{301}\u{301}\u{301}",
    "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "\u{10ffff}",
    "\u{fffd}",
    "İı ß ﬁ ΟΔΟΣ",
    "東京都",
    "null",
    "true",
    "-0",
    "1e999",
    "9223372036854775808",
    "cnv_0",
    "user:usr_0",
    "me",
    "none",
    "open",
    "2026-02-31",
    "0000-00-00",
    "a@b",
    "<a@b>",
    "1.1.a",
    "999999999999999.999999999999999.zzz",
    "{id}",
    "../..",
];

pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(NASTY).prop_map(str::to_owned),
        vec(any::<char>(), 0..20).prop_map(String::from_iter),
        (prop::sample::select(NASTY), 1..300_usize).prop_map(|(nasty, times)| nasty.repeat(times)),
    ]
}

pub fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 25, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..25).prop_map(Value::from),
            vec((name(), inner), 0..6).prop_map(|pairs| Value::Object(Map::from_iter(pairs))),
        ]
    })
}

/// The names of all fields there are, and others.
fn name() -> impl Strategy<Value = String> {
    let mut known: Vec<&str> = vec!["label", "description", "required", "id"];
    known.extend(OPERATIONS.iter().flat_map(|operation| operation.fields).map(|field| field.name));
    prop_oneof![4 => prop::sample::select(known).prop_map(str::to_owned), 1 => text()]
}

/// An operation that a live key may ask for, or a test key.
pub fn operation(livemode: bool) -> impl Strategy<Value = &'static str> {
    let in_sandbox = |operation: &Operation| matches!(operation.scope, ScopeRule::InSandbox(_));
    let asked = || OPERATIONS.iter().filter(move |asked| !(livemode && in_sandbox(asked)));
    let all = asked().map(|operation| operation.name).collect::<Vec<_>>();
    let with_input = asked().filter(|operation| !operation.fields.is_empty());
    let with_input = with_input.map(|operation| operation.name).collect::<Vec<_>>();
    prop_oneof![1 => prop::sample::select(all), 4 => prop::sample::select(with_input)]
}

/// The example of an operation, in which some values are others or gone.
pub fn mutated(operation: &str) -> impl Strategy<Value = Value> + use<> {
    let example = operations::find_by_name(operation).expect("an operation").example_input;
    let example = serde_json::from_str(example).unwrap_or(json!({}));
    let to = prop_oneof![text().prop_map(|text| Some(json!(text))), prop::option::of(value())];
    vec((any::<usize>(), to), 0..3).prop_map(move |changes| {
        let mut body = example.clone();
        for (place, to) in changes {
            let places = 1 + count(&body);
            change(&mut body, &mut (place % places), to);
        }
        body
    })
}

/// How many values there are within a value.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(|item| 1 + count(item)).sum(),
        Value::Object(object) => object.values().map(|item| 1 + count(item)).sum(),
        _ => 0,
    }
}

/// Where there is text within a value.
fn texts(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::String(_) => vec![at.to_owned()],
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(index, item)| texts(item, &format!("{at}/{index}"))).collect()
        }
        Value::Object(object) => {
            object.iter().flat_map(|(name, item)| texts(item, &format!("{at}/{name}"))).collect()
        }
        _ => Vec::new(),
    }
}

/// Puts another value in place of the nth, or takes it away; true when that is done.
fn change(value: &mut Value, place: &mut usize, to: Option<Value>) -> bool {
    if *place == 0 {
        *value = to.unwrap_or(Value::Null);
        return true;
    }
    let mut done = false;
    let mut try_one = |item: &mut Value| {
        if !done {
            *place -= 1;
            done = change(item, place, to.clone());
        }
        !(done && to.is_none() && item.is_null())
    };
    match value {
        Value::Array(items) => items.retain_mut(try_one),
        Value::Object(object) => object.retain(|_, item| try_one(item)),
        _ => return false,
    }
    done
}

#[derive(Clone, Debug)]
struct Shot {
    operation: &'static str,
    /// Instead of a conversation that is there.
    id: Option<String>,
    query: String,
    body: Vec<u8>,
    word: Option<String>,
}

fn shot(livemode: bool) -> impl Strategy<Value = Shot> {
    let query = vec((name(), text()), 0..4).prop_map(|pairs| {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    });
    let raw_query = vec(any::<u8>(), 0..40).prop_map(|bytes| {
        bytes
            .into_iter()
            .map(|b| if b < 128 { format!("%{b:02x}") } else { "&=%".into() })
            .collect()
    });
    let id = prop_oneof![4 => Just(None), 1 => text().prop_map(Some)];
    let word = prop_oneof![Just("same".to_owned()), text()];
    let word = prop_oneof![2 => Just(None), 1 => word.prop_map(Some)];
    (operation(livemode), id, prop_oneof![3 => query, 1 => raw_query], word).prop_flat_map(
        |(operation, id, query, word)| {
            let body = prop_oneof![
                5 => mutated(operation).prop_map(written),
                1 => vec((name(), value()), 0..6)
                    .prop_map(|fields| written(Value::Object(Map::from_iter(fields)))),
                1 => value().prop_map(written),
                1 => vec(any::<u8>(), 0..200),
            ];
            body.prop_map(move |body| Shot {
                operation,
                id: id.clone(),
                query: query.clone(),
                body,
                word: word.clone(),
            })
        },
    )
}

fn written(body: Value) -> Vec<u8> {
    body.to_string().into_bytes()
}

impl Shot {
    fn request(&self, key: &TestKey, conversation: &str) -> Request<Body> {
        let operation = operations::find_by_name(self.operation).unwrap();
        let id: String = match &self.id {
            Some(id) => byte_serialize(format!("x{id}").as_bytes()).collect(),
            None if operation.path.starts_with("/messages") => beside(conversation),
            None => conversation.to_owned(),
        };
        let path = format!("{}?{}", operation.path.replace("{id}", &id), self.query);
        let body = Body::from(self.body.clone());
        let mut request = request(operation.method.name(), &path, Some(&key.key), body);
        let word =
            self.word.as_ref().and_then(|word| HeaderValue::from_bytes(word.as_bytes()).ok());
        word.map(|word| request.headers_mut().insert("idempotency-key", word));
        request
    }
}

/// Throws values that a strategy makes, always the same ones. The first that fails is made smaller
/// before it is told.
pub async fn throw<S>(strategy: S, check: impl AsyncFn(S::Value) -> Result<(), String>)
where
    S: Strategy<Value: Clone + Debug>,
{
    let mut runner = TestRunner::deterministic();
    for _ in 0..SHOTS {
        let mut tree = strategy.new_tree(&mut runner).unwrap();
        let Err(mut problem) = check(tree.current()).await else { continue };
        let mut smallest = tree.current();
        let mut more = tree.simplify();
        for _ in 0..SHRINKS {
            if !more {
                break;
            }
            more = match check(tree.current()).await {
                Err(still) => {
                    (smallest, problem) = (tree.current(), still);
                    tree.simplify()
                }
                Ok(()) => tree.complicate(),
            };
        }
        panic!("{problem} after {smallest:?}");
    }
}

/// True for a success, false for a refusal with its sentence; anything else is wrong.
fn succeeded(answer: &Answer) -> Result<bool, String> {
    let body: Value = serde_json::from_slice(&answer.bytes).map_err(|error| error.to_string())?;
    let alone = body.as_object().filter(|body| body.len() == 1);
    match (answer.status, alone.and_then(|body| body.get("error")?.as_str())) {
        (200 | 201, _) => Ok(true),
        (400 | 404 | 422, Some(sentence)) if !sentence.is_empty() => Ok(false),
        (status, _) => Err(format!("{status} {body}")),
    }
}

/// Asks, and says what is wrong with the answer or with what was done.
async fn answers(
    app: &TestApp,
    key: &TestKey,
    id: &str,
    asked: Request<Body>,
) -> Result<(), String> {
    let state = async || (rows(app).await, app.read(key, &id).await);
    let is_get = asked.method() == "GET";
    let before = state().await;
    let answer = app.send(asked).await;
    if (!succeeded(&answer)? || is_get) && state().await != before {
        return Err(format!("{} and something was done", answer.status));
    }
    Ok(())
}

async fn no_garbage_is_a_failure_or_half_done(app: TestApp) {
    let key = app.key(ALL_AND_ADMIN).await;
    let id = a_conversation(&app).await;
    let fire = async |shot: Shot| answers(&app, &key, &id, shot.request(&key, &id)).await;
    throw(shot(true), fire).await;
}

async fn no_garbage_in_the_sandbox_is_a_failure_or_half_done(app: TestApp) {
    let key = app.test_key(ALL_AND_ADMIN).await;
    let id = a_test_conversation(&app).await;
    throw(shot(false), async |shot: Shot| {
        // The limit of simulated mail is another rule.
        app.advance(SECOND);
        answers(&app, &key, &id, shot.request(&key, &id)).await
    })
    .await;
}

async fn no_text_in_any_field_is_a_failure(app: TestApp) {
    let (live, test) = (app.key(ALL).await, app.test_key(ALL).await);
    let id = a_conversation(&app).await;
    let on_live = OPS.iter().map(|op| (op, &live));
    let asked = on_live.chain(IN_SANDBOX.iter().map(|op| (op, &test)));
    for (op, key) in asked.filter(|(op, _)| op.method == "POST") {
        for pointer in texts(&op.json(), "") {
            app.advance(MINUTE);
            for nasty in NASTY {
                let mut body = op.json();
                *body.pointer_mut(&pointer).unwrap() = json!(nasty);
                let answer = op.ask_with(&app, key, &id, body.to_string()).await;
                let problem = succeeded(&answer).err();
                assert_eq!(problem, None, "{} {pointer} {nasty:?}", op.name);
            }
        }
    }
}

async fn no_search_is_a_failure(app: TestApp) {
    let key = app.key(ALL).await;
    let id = a_conversation(&app).await;
    let every = ["/conversations", "/conversations?view=all", "/documents"];
    let repeated = NASTY.iter().map(|nasty| nasty.repeat(200 / nasty.chars().count().max(1)));
    for q in NASTY.iter().map(|nasty| nasty.to_string()).chain(repeated) {
        let q: String = byte_serialize(q.as_bytes()).collect();
        for list in every {
            let mark = if list.contains('?') { '&' } else { '?' };
            let answer = app.get(&key, &format!("{list}{mark}q={q}")).await;
            assert_eq!(answer.status, 200, "{list} {q}");
        }
    }
    for raw in ["q=%", "q=%f", "q=%ff%fe", "q=%ed%a0%80", "q=+++", "q=%c3", "&&&", "=", "q"] {
        app.get(&key, &format!("/conversations?{raw}")).await.is(200);
    }
    assert_eq!(app.get(&key, "/conversations?q=lamp").await.json()[0]["id"], json!(id));
}

async fn no_key_or_origin_is_a_failure(app: TestApp) {
    let byte = any::<u8>().prop_map(|b| if b < 32 || b == 127 { b'.' } else { b });
    let headers = vec(byte, 0..80);
    let name = prop::sample::select(vec!["authorization", "origin", "content-length"]);
    throw((name, headers), async |(name, value)| {
        let mut asked = op("me").request(None, &"");
        asked.headers_mut().insert(name, HeaderValue::from_bytes(&value).unwrap());
        let answer = app.send(asked).await;
        let expected = if name == "origin" { 403 } else { 401 };
        match (answer.status == expected, answer.error().is_empty()) {
            (true, false) => Ok(()),
            _ => Err(format!("{} {}", answer.status, answer.error())),
        }
    })
    .await;
}
