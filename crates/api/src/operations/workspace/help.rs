//! `GET /help`: all that there is to say about one tool.

use base::error::{Error, Result};
use base::security::scopes::Scope;
use serde_json::{Value, json};

use crate::fields::{filled_text, object_schema};
use crate::input::input;
use crate::operations::{
    Access, Method, Operation, ScopeRule, Tool, answer, parse_input, with_tool,
};
use crate::wire::ToolHelp;

/// Characters of a tool's name.
const TOOL_CHARS: usize = 60;

pub const OPERATION: Operation = Operation {
    name: "help",
    method: Method::Get,
    path: "/help",
    tool: Some(Tool {
        name: "help",
        about: "How a tool works: all it takes, limits, an example.",
        help: "Explains one tool: what it does, what happens to the customer, its scope, every argument with its \
               limits, and an example. Use it before the first call of a tool with many arguments, or after it \
               refused.",
        hints: &[],
        example: r#"{ "tool": "reply" }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "Explain a tool",
    about: "What an MCP tool does and takes, in full: its description, its scope, the JSON Schema of its \
            arguments with all limits, and an example. The list of tools has all of this shorter.",
    fields: Input::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<ToolHelp>(),
    example_input: r#"{ "tool": "whoami" }"#,
    example_output: r#"{
        "tool": "whoami",
        "scope": "read",
        "about": "Who you are here, what your key allows, live or sandbox, and the time.",
        "arguments": { "type": "object", "properties": {} },
        "example": {}
    }"#,
    run: |_, _, input| answer(&explain(&parse_input(input)?)?),
};

input! {
    struct Input {
        /// The name of a tool.
        #[required(filled_text(TOOL_CHARS))]
        tool: String,
    }
}

fn explain(input: &Input) -> Result<ToolHelp> {
    let unknown = || Error::invalid("tool", "is not the name of a tool");
    let operation = with_tool(&input.tool).ok_or_else(unknown)?;
    let tool = operation.tool.as_ref().ok_or_else(unknown)?;
    let mut arguments = object_schema(operation.fields);
    if operation.has_id() {
        arguments["properties"]["id"] = json!({ "type": "string" });
    }
    if operation.takes_idempotency_key() {
        arguments["properties"]["idempotencyKey"] =
            json!({ "type": "string", "description": "A word of your own; makes a repeat safe." });
    }
    Ok(ToolHelp {
        tool: tool.name,
        scope: match operation.scope {
            ScopeRule::Always(scope) | ScopeRule::InSandbox(scope) => scope.as_str(),
            ScopeRule::DraftOrSend => "draft, or send with send: true",
        },
        about: format!("{} {}", tool.help, operation.about),
        arguments,
        example: serde_json::from_str::<Value>(tool.example)?,
    })
}
