//! A tool call: arguments in, the operation's answer out.

use inbox::actor::{KeyHash, Scope};
use inbox::fields::{check_body, one_problem};
use inbox::idempotency::IdempotencyKey;
use inbox::operations::{Answer, Operation};
use inbox::{Call, Error, Problems};
use serde_json::Value;

use super::tools::{ID, IDEMPOTENCY_KEY};

/// The call that a tool's arguments make. They are the REST body or query, and what REST has
/// elsewhere: the id of the path and the key of the header.
pub fn call(operation: &'static Operation, key: KeyHash, arguments: Value) -> Call {
    let id = id(operation, &arguments);
    let input = check_body(operation.fields, &arguments);
    let idempotency_key = idempotency_key(operation, &arguments);
    let (id, input, idempotency_key) = match (id, input, idempotency_key) {
        (Ok(id), Ok(input), Ok(idempotency_key)) => (id, Ok(input), idempotency_key),
        (id, input, idempotency_key) => {
            let found = [id.err(), input.err(), idempotency_key.err()].into_iter().flatten();
            (None, Err(found.fold(Problems::default(), Problems::and)), None)
        }
    };
    Call { operation, key, id, raw: arguments, input, idempotency_key }
}

fn id(operation: &Operation, arguments: &Value) -> Result<Option<String>, Problems> {
    match arguments.get(ID) {
        _ if !operation.has_id() => Ok(None),
        Some(Value::String(id)) => Ok(Some(id.clone())),
        Some(_) => Err(one_problem(ID, "must be a string")),
        None => Err(one_problem(ID, "is required")),
    }
}

fn idempotency_key(
    operation: &Operation,
    arguments: &Value,
) -> Result<Option<IdempotencyKey>, Problems> {
    let given = arguments.get(IDEMPOTENCY_KEY).filter(|_| operation.takes_idempotency_key());
    let Some(given) = given else { return Ok(None) };
    let key = given.as_str().and_then(IdempotencyKey::parse);
    key.map(Some).ok_or_else(|| one_problem(IDEMPOTENCY_KEY, IdempotencyKey::RULE))
}

/// The members of a tool's result. An error comes back where it concerns the request as a whole
/// and not the tool: the key, its rate, its plan, its scopes.
pub fn outcome(operation: &Operation, result: Result<Answer, Error>) -> Result<String, Error> {
    match result {
        Ok(answer) => Ok(done(operation, &answer)),
        Err(
            error @ (Error::Unauthorized
            | Error::TooMany(_)
            | Error::Forbidden(_)
            | Error::Lacks { entirely: true, .. }),
        ) => Err(error),
        Err(error) => {
            crate::rest::log_cause(&error);
            Ok(not_done(&error))
        }
    }
}

/// The text is the REST body as it is. The structured content is the same as an object: a list
/// has its name there, and a warning stands before everything that strangers wrote.
fn done(operation: &Operation, answer: &Answer) -> String {
    let body = String::from_utf8_lossy(&answer.body);
    let mut members = String::with_capacity(2 * body.len() + body.len() / 4 + 200);
    members.push_str(r#""content":["#);
    push_text(&mut members, &body);
    members.push_str(r#"],"structuredContent":{"#);
    if let Some(warning) = &answer.warning {
        push_member(&mut members, "warning", warning);
        members.push(',');
    }
    match operation.tool.as_ref().and_then(|tool| tool.list) {
        None => members.push_str(body.strip_prefix('{').unwrap_or("}")),
        Some(list) => {
            members.push_str(&format!("\"{list}\":"));
            members.push_str(&body);
            if let Some(next) = &answer.next {
                members.push(',');
                push_member(&mut members, "nextCursor", next);
            }
            members.push('}');
        }
    }
    members.push_str(r#","isError":false"#);
    members
}

/// The sentence that REST gives, and what to do about it.
fn not_done(error: &Error) -> String {
    let mut members = String::from(r#""content":["#);
    push_text(&mut members, &error.to_string());
    if let Some(advice) = advice(error) {
        members.push(',');
        push_text(&mut members, advice);
    }
    members.push_str(r#"],"isError":true"#);
    members
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
        Error::KeyReused => {
            Some("Nothing was changed. Choose another idempotencyKey for another request.")
        }
        Error::Unauthorized
        | Error::Forbidden(_)
        | Error::TooMany(_)
        | Error::Store(_)
        | Error::Files(_) => None,
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(r#"{"type":"text","#);
    push_member(out, "text", text);
    out.push('}');
}

fn push_member(out: &mut String, name: &str, text: &str) {
    out.push('"');
    out.push_str(name);
    out.push_str("\":\"");
    push_escaped(out, text);
    out.push('"');
}

/// The text as the inside of a JSON string. An answer is long and full of quotes, so the stretches
/// between what must be escaped are copied whole.
fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f)) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            control => out.push_str(&format!("\\u{control:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_reads_back_as_it_was() {
        for text in ["", "plain", r#"{"a":"b\\n"}"#, "\"\\\n\r\t\u{1}\u{7f}ä漢😀", "ends with \""]
        {
            let mut out = String::from("\"");
            push_escaped(&mut out, text);
            out.push('"');
            assert_eq!(serde_json::from_str::<String>(&out).expect("JSON"), text);
        }
    }
}
