//! Finds the operation of an address and method.

use api::operations::{self, OPERATIONS, Operation};
use axum::http::Method;
use percent_encoding::percent_decode_str;

/// The target of an API path.
pub enum Route {
    Operation {
        operation: &'static Operation,
        id: Option<String>,
    },
    Specification,
    /// Something stands here, for other methods.
    Other {
        allow: String,
    },
    Nothing,
}

const SPECIFICATION: &str = "/openapi.json";

/// Finds what a path below the prefix and a method name.
pub fn find(path: &str, method: &Method) -> Route {
    if path == SPECIFICATION {
        return match *method {
            Method::GET => Route::Specification,
            _ => Route::Other { allow: "GET, HEAD".into() },
        };
    }
    let mut allow = Vec::new();
    // `/conversations/batch` is no conversation.
    let is_fixed = OPERATIONS.iter().any(|operation| operation.path == path);
    for operation in OPERATIONS.iter().filter(|operation| !is_fixed || !operation.has_id()) {
        let Some(id) = operation.match_path(path) else { continue };
        if operation.method.name() == method.as_str() {
            return Route::Operation { operation, id: id.map(|id| decode(&id)) };
        }
        allow.push(match operation.method {
            operations::Method::Get => "GET, HEAD",
            operations::Method::Post => "POST",
            operations::Method::Delete => "DELETE",
        });
    }
    if allow.is_empty() { Route::Nothing } else { Route::Other { allow: allow.join(", ") } }
}

/// An id as it was meant: an address may have its `@` as `%40`.
fn decode(id: &str) -> String {
    percent_decode_str(id).decode_utf8().map_or_else(|_| id.to_owned(), Into::into)
}

/// The shape of a path, for the log: no ids, and nothing that a stranger typed.
pub fn shape(path: &str) -> &'static str {
    let inside = path.strip_prefix(super::PREFIX).unwrap_or("");
    // `/conversations/batch` is no conversation.
    let fitting = OPERATIONS.iter().filter(|operation| operation.match_path(inside).is_some());
    let known = fitting.min_by_key(|operation| operation.has_id());
    match known {
        Some(operation) => operation.path,
        None if inside == SPECIFICATION => SPECIFICATION,
        None => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_one_operation_and_its_id() {
        let found = |path, method| match find(path, &method) {
            Route::Operation { operation, id } => format!("{} {id:?}", operation.name),
            Route::Specification => "specification".into(),
            Route::Other { allow } => format!("allow {allow}"),
            Route::Nothing => "nothing".into(),
        };
        assert_eq!(found("/conversations", Method::GET), "list_conversations None");
        assert_eq!(found("/conversations/cnv_1", Method::GET), "get_conversation Some(\"cnv_1\")");
        assert_eq!(found("/conversations/cnv_1/notes", Method::POST), "add_note Some(\"cnv_1\")");
        assert_eq!(found("/conversations/cnv_1/notes", Method::GET), "allow POST");
        assert_eq!(found("/conversations", Method::DELETE), "allow GET, HEAD, POST");
        assert_eq!(found("/webhooks/whk_1", Method::DELETE), "delete_webhook Some(\"whk_1\")");
        assert_eq!(found("/webhooks/whk_1", Method::GET), "allow DELETE");
        assert_eq!(found("/conversations/", Method::GET), "nothing");
        assert_eq!(found("/conversations/a/b", Method::GET), "nothing");
        assert_eq!(found("/openapi.json", Method::GET), "specification");
    }

    #[test]
    fn no_two_operations_share_an_address() {
        for (index, one) in OPERATIONS.iter().enumerate() {
            for other in &OPERATIONS[index + 1..] {
                assert!(one.path != other.path || one.method != other.method, "{}", one.name);
                assert_ne!(one.name, other.name);
            }
        }
    }
}
