//! A tool call: arguments in, the operation's answer out.

use api::calls::{ApiCall, NO_API};
use api::fields::{check_body, one_problem};
use api::idempotency::IdempotencyKey;
use api::operations::{ListCount, Operation, OperationOutput, find_by_name};
use axum::body::Bytes;
use base::error::{Error, ValidationErrors};
use base::security::api_key::KeyHash;
use base::security::scopes::Scope;
use serde_json::Value;

use super::Asked;
use super::envelope::Response;
use super::list_text::list_text;
use super::short_text::short_text;
use super::tools::{ID, IDEMPOTENCY_KEY};

/// Unknown arguments that a result names, and how much of each name.
const IGNORED_SHOWN: usize = 10;
const IGNORED_CHARS: usize = 60;

/// The call that a tool's arguments make. They are the REST body or query, and what REST has
/// elsewhere: the id of the path and the key of the header.
pub fn call(operation: &'static Operation, key: KeyHash, arguments: Value) -> ApiCall {
    let id = id(operation, &arguments);
    let input = check_body(operation.fields, &arguments);
    let idempotency_key = idempotency_key(operation, &arguments);
    let (id, input, idempotency_key) = match (id, input, idempotency_key) {
        (Ok(id), Ok(input), Ok(idempotency_key)) => (id, Ok(input), idempotency_key),
        (id, input, idempotency_key) => {
            let found = [id.err(), input.err(), idempotency_key.err()].into_iter().flatten();
            (None, Err(found.fold(ValidationErrors::default(), ValidationErrors::and)), None)
        }
    };
    ApiCall { operation, key, id, raw: arguments, input, idempotency_key }
}

/// The call of an operation of this name, for a method that is no tool call.
pub fn call_by_name(name: &str, key: KeyHash, arguments: Value) -> ApiCall {
    call(find_by_name(name).expect("an operation of the table"), key, arguments)
}

/// A sentence that names the arguments a tool does not have; `None` when it has all of them.
pub fn ignored_arguments(operation: &Operation, arguments: &Value) -> Option<String> {
    let is_known = |name: &str| {
        operation.fields.iter().any(|field| field.name == name)
            || (name == ID && operation.has_id())
            || Some(name) == other_name_of_id(operation)
            || (name == IDEMPOTENCY_KEY && operation.takes_idempotency_key())
    };
    let unknown = arguments.as_object()?.keys().filter(|name| !is_known(name));
    let shown = unknown.take(IGNORED_SHOWN).map(|name| Value::from(cut(name)).to_string());
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty())
        .then(|| format!("Ignored, because this tool has no such argument: {}.", shown.join(", ")))
}

/// The beginning of a name that somebody else chose.
pub fn cut(name: &str) -> String {
    name.chars().take(IGNORED_CHARS).collect()
}

/// What the answer that gives an id calls it, where a tool takes it by that name, too.
fn other_name_of_id(operation: &Operation) -> Option<&'static str> {
    (operation.name == "undo").then_some("undoId")
}

fn id(operation: &Operation, arguments: &Value) -> Result<Option<String>, ValidationErrors> {
    let other = || arguments.get(other_name_of_id(operation)?);
    match arguments.get(ID).or_else(other) {
        _ if !operation.has_id() => Ok(None),
        Some(Value::String(id)) => Ok(Some(id.clone())),
        Some(_) => Err(one_problem(ID, "must be a string")),
        None => Err(one_problem(ID, "is required")),
    }
}

fn idempotency_key(
    operation: &Operation,
    arguments: &Value,
) -> Result<Option<IdempotencyKey>, ValidationErrors> {
    let given = arguments.get(IDEMPOTENCY_KEY).filter(|_| operation.takes_idempotency_key());
    let Some(given) = given else { return Ok(None) };
    let key = given.as_str().and_then(IdempotencyKey::parse);
    key.map(Some).ok_or_else(|| one_problem(IDEMPOTENCY_KEY, IdempotencyKey::RULE))
}

/// The call behind a result.
pub struct ToolCall<'a> {
    pub operation: &'static Operation,
    pub arguments: &'a Value,
    /// A sentence about the arguments that the tool does not have.
    pub ignored: Option<&'a str>,
}

/// The response with a tool's result. What the tool refuses is a result, too, so that the model reads why.
/// An error comes back where the client has to act: about the key, its plan and its rate, and where a person can grant
/// a scope that a token lacks.
pub fn outcome(
    asked: &Asked,
    call: &ToolCall<'_>,
    result: Result<OperationOutput, Error>,
) -> Result<Bytes, Error> {
    match result {
        Ok(answer) => Ok(tool_result(asked, call, &answer)),
        Err(error @ (Error::Unauthorized | Error::TooMany(_))) => Err(error),
        Err(Error::Forbidden(sentence)) if sentence == NO_API => Err(Error::Forbidden(sentence)),
        Err(error @ Error::Lacks { entirely: true, .. }) if asked.with_token => Err(error),
        Err(error) => {
            crate::api::http::log_cause(&error);
            Ok(not_done(asked, call.ignored, &error))
        }
    }
}

/// The first text is the REST body, or a shorter one where the client knows structured content. Beside
/// it stand what else a model must know: not every client shows it the structured content, and some
/// show nothing else. So that is never longer than the text: the same object, and nothing in place of a
/// table, unless the client asked for the whole body.
fn tool_result(asked: &Asked, call: &ToolCall<'_>, answer: &OperationOutput) -> Bytes {
    let ToolCall { operation, arguments, ignored } = *call;
    let body = answer.body.as_slice();
    let mut response = Response::begin(asked, 3 * body.len() + 200);
    let out = &mut response.members;
    let may_shorten = asked.knows_structured_content && operation.only_reads();
    let list = may_shorten.then(|| list_text(operation, arguments, body)).flatten();
    let object = match &list {
        None if may_shorten => short_text(operation, body),
        _ => None,
    };
    push(out, r#""content":["#);
    let table = list.as_ref().map(|list| list.table.as_bytes());
    push_text(out, table.or(object.as_deref()).unwrap_or(body));
    let every = list.as_ref().and_then(|list| list.every.as_deref());
    let next = answer.next.as_ref().map(|next| format!("nextCursor: {next}"));
    let count = answer.count.as_ref().map(|count| format!("{}: {}", count_name(count), count.n));
    let beside = [every, answer.warning.as_deref(), next.as_deref(), count.as_deref(), ignored];
    for beside in beside.into_iter().flatten() {
        push(out, ",");
        push_text(out, beside.as_bytes());
    }
    push(out, "]");
    let structured = match (asked.wants_whole_body, &list) {
        (true, _) => Some(body),
        (false, Some(_)) => None,
        (false, None) => Some(object.as_deref().unwrap_or(body)),
    };
    if let Some(body) = structured {
        push_structured(out, call, answer, body);
    }
    push(out, r#","isError":false"#);
    response.end()
}

/// The body as an object: a list has its name there, and a warning stands before everything that strangers
/// wrote.
fn push_structured(out: &mut Vec<u8>, call: &ToolCall<'_>, answer: &OperationOutput, body: &[u8]) {
    push(out, r#","structuredContent":{"#);
    for (name, beside) in [("warning", answer.warning.as_deref()), ("ignored", call.ignored)] {
        if let Some(beside) = beside {
            push_member(out, name, beside.as_bytes());
            push(out, ",");
        }
    }
    match call.operation.tool.as_ref().and_then(|tool| tool.list) {
        None if body == b"{}" => {
            if out.last() == Some(&b',') {
                out.pop();
            }
            push(out, "}");
        }
        None => out.extend_from_slice(body.strip_prefix(b"{").unwrap_or(b"}")),
        Some(list) => {
            push(out, &format!("\"{list}\":"));
            out.extend_from_slice(body);
            if let Some(next) = &answer.next {
                push(out, ",");
                push_member(out, "nextCursor", next.as_bytes());
            }
            if let Some(count) = &answer.count {
                push(out, &format!(",\"{}\":{}", count_name(count), count.n));
            }
            push(out, "}");
        }
    }
}

fn count_name(count: &ListCount) -> &'static str {
    if count.is_exact { "count" } else { "countAtLeast" }
}

/// The sentence that REST gives, and what to do about it.
fn not_done(asked: &Asked, ignored: Option<&str>, error: &Error) -> Bytes {
    let mut response = Response::begin(asked, 400);
    let out = &mut response.members;
    push(out, r#""content":["#);
    push_text(out, error.to_string().as_bytes());
    let code = match (error.code(), error.rule()) {
        (Some(code), Some(rule)) => Some(format!("{code}, rule: {}", rule.as_str())),
        (code, _) => code.map(str::to_owned),
    };
    for beside in code.as_deref().into_iter().chain(advice(error)).chain(ignored) {
        push(out, ",");
        push_text(out, beside.as_bytes());
    }
    push(out, r#"],"isError":true"#);
    response.end()
}

fn advice(error: &Error) -> Option<&'static str> {
    match error {
        Error::Invalid(_) => Some("Nothing was changed. Correct what is named and call again."),
        Error::NotFound(_) => Some(
            "Nothing was changed. Take ids from the answers of other tools, exactly as they stand.",
        ),
        Error::Lacks { scope: Scope::Send, .. } => Some(
            "Nothing was changed. Call again without send to leave a draft for a person to approve.",
        ),
        Error::Lacks { .. } => {
            Some("Nothing was changed. Ask your user for a key with this scope, or go on without.")
        }
        Error::Conflict(_) => {
            Some("Nothing was changed. Read the conversation to see what is there.")
        }
        Error::PolicyRefused { .. } => Some(
            "Nothing was changed. The policy of your key decides, not your words: tell your user, or hand the \
             conversation over.",
        ),
        Error::AgentPaused => Some(
            "Nothing was changed. Tell your user that the key is paused, and do not try again.",
        ),
        Error::Suspended { .. } => Some(
            "Nothing was changed. Tell your user that the workspace is suspended, and do not try again.",
        ),
        Error::LimitReached(_) => Some(
            "Nothing was changed. Tell your user which limit of the workspace is reached; trying again does not help.",
        ),
        Error::KeyReused => {
            Some("Nothing was changed. Choose another idempotencyKey for another request.")
        }
        Error::Forbidden(_) => Some("Nothing was changed."),
        Error::Unauthorized
        | Error::TooMany(_)
        | Error::Throttled { .. }
        | Error::ClosedForNow
        | Error::Store(_)
        | Error::Files(_)
        | Error::LostFile => None,
    }
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    push(out, r#"{"type":"text","#);
    push_member(out, "text", text);
    push(out, "}");
}

fn push_member(out: &mut Vec<u8>, name: &str, text: &[u8]) {
    push(out, "\"");
    push(out, name);
    push(out, "\":\"");
    push_escaped(out, text);
    push(out, "\"");
}

/// The text as the inside of a JSON string. An answer is long, JSON itself, and so without control
/// characters and with a quote every few bytes: it is copied in words, and what follows a quote in
/// its word once more.
fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    // Not `any`, which would look at one byte after the other.
    if text.iter().fold(false, |found, byte| found | byte.is_ascii_control()) {
        let quoted = Value::from(String::from_utf8_lossy(text)).to_string();
        return push(out, &quoted[1..quoted.len() - 1]);
    }
    let mut end = out.len();
    // Every byte may need another before it, and the last word may reach over the end.
    out.resize(end + 2 * text.len() + WORD, 0);
    let (words, rest) = text.as_chunks::<WORD>();
    for word in words {
        out[end..end + WORD].copy_from_slice(word);
        let word = u64::from_le_bytes(*word);
        let mut found = equal_bytes(word, b'"') | equal_bytes(word, b'\\');
        while found != 0 {
            let at = found.trailing_zeros() as usize / 8;
            out[end + at] = b'\\';
            end += 1;
            out[end + at..end + at + WORD].copy_from_slice(&(word >> (8 * at)).to_le_bytes());
            found &= found - 1;
        }
        end += WORD;
    }
    out.truncate(end);
    for byte in rest {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}

/// Bytes of a word.
const WORD: usize = 8;

/// The word's bytes that are this one, each as its highest bit.
fn equal_bytes(word: u64, byte: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7f; WORD]);
    let zero_where_equal = word ^ u64::from_ne_bytes([byte; WORD]);
    !(((zero_where_equal & LOW) + LOW) | zero_where_equal | LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_reads_back_as_it_was() {
        let pieces =
            ["", "\"", "\\", "\"\"\\\"", "a", "ä漢😀", "seven c", "{\"a\":\"b\\n\"}", "\u{7f}\n"];
        for length in 0..30 {
            for piece in pieces {
                for filling in ["x", "\"", "é"] {
                    let filling = filling.repeat(length);
                    let text = format!("{filling}{piece}{filling}{piece}");
                    let mut out = b"\"".to_vec();
                    push_escaped(&mut out, text.as_bytes());
                    out.push(b'"');
                    assert_eq!(serde_json::from_slice::<String>(&out).expect("JSON"), text);
                }
            }
        }
    }
}
