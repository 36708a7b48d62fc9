//! Which protocol version a message belongs to, and whether its headers say what its body says.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::json_rpc_error::JsonRpcError;
use super::protocol_version::{LEGACY, MODERN, ProtocolVersion, VERSIONS, WITH_STRUCTURED_CONTENT};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Our own: `full` has the whole body of REST as structured content, `described` its schema with each tool, too.
const STRUCTURED: HeaderName = HeaderName::from_static("mailroom-structured-content");

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The headers that repeat what the body says, for those who route without reading bodies.
pub struct Routing {
    version: Header,
    method: Header,
    name: Header,
    structured: Header,
}

enum Header {
    Missing,
    Given(String),
    /// Readers that take the first and readers that take the last would disagree.
    Repeated,
}

impl Routing {
    pub fn of(headers: &HeaderMap) -> Routing {
        let header = |name: HeaderName| {
            let mut values = headers.get_all(name).iter();
            match (values.next(), values.next()) {
                (None, _) => Header::Missing,
                (Some(value), None) => Header::Given(trim_value(value)),
                (Some(_), Some(_)) => Header::Repeated,
            }
        };
        Routing {
            version: header(VERSION),
            method: header(METHOD),
            name: header(NAME),
            structured: header(STRUCTURED),
        }
    }

    /// A notification is not answered, so all that can be wrong with it is its version.
    pub fn check_notification(&self) -> Result<(), JsonRpcError> {
        match &self.version {
            Header::Given(version) if !VERSIONS.contains(&version.as_str()) => {
                Err(JsonRpcError::unsupported_version(version))
            }
            _ => Ok(()),
        }
    }

    /// The era of a request.
    pub fn version(&self, params: &Map<String, Value>) -> ProtocolVersion {
        let told_in_body = params.get("_meta").is_some_and(|meta| meta.get(META_VERSION).is_some());
        match &self.version {
            Header::Missing if !told_in_body => ProtocolVersion::Legacy,
            Header::Given(version) if is_legacy(version) => {
                if meta(params, META_VERSION).is_none_or(|told| told == version) {
                    ProtocolVersion::Legacy
                } else {
                    ProtocolVersion::Modern
                }
            }
            _ => ProtocolVersion::Modern,
        }
    }

    /// True when the version that the header tells has structured content; without the header it is not
    /// known.
    pub fn knows_structured_content(&self) -> bool {
        WITH_STRUCTURED_CONTENT.iter().any(|version| self.version.says(*version))
    }

    /// True for a program that reads structured content, which is left short otherwise.
    pub fn wants_whole_body(&self) -> bool {
        self.structured.says("full") || self.wants_output_schemas()
    }

    /// True for a program that reads what each tool gives.
    pub fn wants_output_schemas(&self) -> bool {
        self.structured.says("described")
    }

    /// What must hold of a modern request: the body says its version and what the client can do,
    /// the headers say the same as the body, and the version is one that is served.
    pub fn check(&self, method: &str, params: &Map<String, Value>) -> Result<(), JsonRpcError> {
        if let Header::Given(version) = &self.version
            && version != MODERN
            && meta(params, META_VERSION).is_none()
        {
            return Err(JsonRpcError::unsupported_version(version));
        }
        let version = meta(params, META_VERSION);
        let capabilities = meta(params, META_CAPABILITIES);
        let (Some(version), Some(Value::Object(_))) = (version, capabilities) else {
            return Err(JsonRpcError::invalid_params(&format!(
                "params._meta must carry {META_VERSION} and {META_CAPABILITIES}"
            )));
        };
        let mismatch = |header: &HeaderName| JsonRpcError::header_mismatch(header.as_str());
        if !self.version.says(version) {
            return Err(mismatch(&VERSION));
        }
        if !self.method.says(method) {
            return Err(mismatch(&METHOD));
        }
        let name = naming_member(method).and_then(|member| params.get(member)?.as_str());
        if name.is_some_and(|name| !self.name.says_encoded(name)) {
            return Err(mismatch(&NAME));
        }
        if version != MODERN {
            let requested = version.as_str().unwrap_or_default();
            return Err(JsonRpcError::unsupported_version(requested));
        }
        Ok(())
    }
}

impl Header {
    fn says(&self, wanted: &(impl PartialEq<str> + ?Sized)) -> bool {
        matches!(self, Header::Given(text) if wanted == text.as_str())
    }

    /// A name that a header cannot hold as it is stands there as `=?base64?…?=`.
    fn says_encoded(&self, wanted: &str) -> bool {
        let Header::Given(text) = self else { return false };
        let encoded = text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
        match encoded {
            None => text == wanted,
            Some(encoded) => STANDARD.decode(encoded).is_ok_and(|bytes| bytes == wanted.as_bytes()),
        }
    }
}

/// The member of a request that names what it is about, which a header repeats.
fn naming_member(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    }
}

fn is_legacy(version: &str) -> bool {
    LEGACY.contains(&version)
}

fn meta<'a>(params: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    params.get("_meta")?.get(key)
}

/// A header's text without the white space around it; what is no text matches nothing.
fn trim_value(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).trim_matches([' ', '\t']).to_owned()
}
