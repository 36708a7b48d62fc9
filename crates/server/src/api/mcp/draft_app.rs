//! The MCP App of a draft (extension `io.modelcontextprotocol/ui`): a page inside a chat client that shows the draft that a
//! tool has just made, and leads to the page on which a person decides. It approves nothing: the key that drafts is the
//! key of the chat client. Clients without the extension show the text of the result.

use serde_json::{Map, Value, json};

use super::protocol_version::ProtocolVersion;

/// Where the page is.
pub const URI: &str = "ui://mailroom/draft";
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";
pub const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The tools whose result the page shows.
pub const TOOLS: [&str; 2] = ["reply", "start_conversation"];
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// What stands in the page for the address of this server.
const ORIGIN: &str = "{origin}";
const PAGE: &str = include_str!("draft_app.html");

/// True for a client that shows such pages, as each of its requests says. In the older era only the greeting says it,
/// which nobody remembers, so those clients read the page only by its address.
pub fn is_shown(version: ProtocolVersion, params: &Map<String, Value>) -> bool {
    let capabilities = params.get("_meta").and_then(|meta| meta.get(META_CAPABILITIES));
    let shown = capabilities.and_then(|known| known.get("extensions")?.get(EXTENSION));
    version == ProtocolVersion::Modern && shown.is_some()
}

/// What a tool says of its page.
pub fn tool_meta() -> Value {
    json!({ "ui": { "resourceUri": URI } })
}

/// The page in the list of resources.
pub fn entry() -> Value {
    json!({
        "uri": URI,
        "name": "draft",
        "title": "A draft that waits",
        "description": "Shows the draft that a tool made, and leads to the page where a person decides.",
        "mimeType": MIME_TYPE,
    })
}

/// The page. It loads nothing from anywhere.
pub fn contents(origin: &str) -> Value {
    let text = PAGE.replace(ORIGIN, origin);
    let meta = json!({ "ui": { "csp": { "connectDomains": [], "resourceDomains": [] }, "prefersBorder": true } });
    json!([{ "uri": URI, "mimeType": MIME_TYPE, "text": text, "_meta": meta }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_and_makes_no_call_of_a_tool() {
        let contents = contents("https://mail.acme.example");
        let text = contents[0]["text"].as_str().expect("a page");
        assert!(text.contains("https://mail.acme.example/approvals/"), "{text}");
        for absent in [" src=", "href=", "fetch(", "tools/call", "innerHTML", "eval("] {
            assert!(!text.contains(absent), "{absent}");
        }
    }

    #[test]
    fn every_tool_with_the_page_is_one() {
        for tool in TOOLS {
            assert!(api::operations::with_tool(tool).is_some(), "{tool}");
        }
    }
}
