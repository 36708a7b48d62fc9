//! The MCP server: the operation table as tools for models, over Streamable HTTP without sessions
//! (API section 4.16). Both eras of the protocol are served at one address: the current one, in
//! which every request tells its version by itself, and the older one, which begins with
//! `initialize`. Keys, rate, plan and origins are checked by the same code as for REST (`api/http`).

mod arguments;
mod call;
mod completion;
mod confirmation;
mod draft_app;
mod envelope;
mod instructions;
mod json_rpc_error;
mod list_text;
mod message;
mod output_schema;
mod progress;
mod prompts;
mod protocol_version;
mod resources;
mod routing;
mod short_text;
mod tools;

use std::sync::Arc;

use actions::integrations::oauth_consent::oauth_works_at;
use api::calls::ApiCall;
use api::operations::{self, Operation, OperationOutput};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, header};
use base::error::Error;
use base::rate_limit::RateStatus;
use base::security::api_key::KeyHash;
use base::security::scopes::{Scope, Scopes};
use serde_json::{Map, Value, json};

use crate::api::http::{ApiContext, ApiResponse, UnreadBody, bearer_or_token, body_sentence};
use call::ToolCall;
use envelope::{error_body, result_body};
use json_rpc_error::JsonRpcError;
use message::{JsonRpcMessage, JsonRpcParseError};
use progress::{EventStream, FollowedCalls};
use protocol_version::{LEGACY, ProtocolVersion, VERSIONS};
use routing::Routing;
use tools::{ToolExtras, ToolSet};

/// Where the MCP server lives.
pub const PATH: &str = "/mcp";
/// Where clients find out who gives tokens for it.
pub const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

/// Everything that MCP responds with.
struct McpServer {
    context: ApiContext,
    tools: ToolSet,
    /// The calls whose progress is told.
    followed: Arc<FollowedCalls>,
}

/// Serves every request as one to [`PATH`].
pub fn router(context: ApiContext) -> Router {
    let (tools, followed) = (ToolSet::new(), Arc::default());
    Router::new().fallback(handle).with_state(Arc::new(McpServer { context, tools, followed }))
}

async fn handle(State(server): State<Arc<McpServer>>, request: Request<Body>) -> Response<Body> {
    let stream = EventStream::default();
    let response =
        server.context.respond(PATH, request, |request| answer(&server, request, &stream)).await;
    stream.put_into(response)
}

/// Answers one HTTP request. Every POST is counted and needs a key, whatever it holds.
async fn answer(
    server: &Arc<McpServer>,
    request: Request<Body>,
    stream: &EventStream,
) -> ApiResponse {
    let context = &server.context;
    if request.method() != Method::POST {
        let sentence = "This address takes POST: it has no sessions and opens no streams.";
        let mut reply = context.refuse(StatusCode::METHOD_NOT_ALLOWED, sentence);
        reply.extra.push((header::ALLOW, "POST".into()));
        return reply;
    }
    let Some(key) = bearer_or_token(&request) else {
        let rate = context.app.limiter.full_status();
        let mut reply = error_response(context, &Error::Unauthorized, rate, &Value::Null);
        if !request.headers().contains_key(header::AUTHORIZATION) {
            challenge(context, &mut reply, None, DEFAULT_SCOPES);
        }
        return reply;
    };
    if !takes_json(request.headers()) {
        let sentence = "Answers here are application/json; the Accept header must allow that.";
        return context.refuse(StatusCode::NOT_ACCEPTABLE, sentence);
    }
    let routing = Routing::of(request.headers());
    let takes_events = progress::takes_events(request.headers());
    let body = match context.read_body(key, request).await {
        Ok(body) => body,
        Err(UnreadBody::Body(status)) => {
            return context.refuse(status, &body_sentence(status));
        }
        Err(UnreadBody::Key(error)) => {
            return error_response(
                context,
                &error,
                context.app.limiter.full_status(),
                &Value::Null,
            );
        }
    };
    match message::parse(&routing, &body) {
        Ok(JsonRpcMessage::Notification { method, params }) => {
            acknowledge(server, key, &method, &params).await
        }
        Ok(JsonRpcMessage::Request { id, version, method, params }) => {
            let knows_structured_content = routing.knows_structured_content();
            let asked = Asked {
                id,
                version,
                knows_structured_content,
                wants_whole_body: routing.wants_whole_body() || !knows_structured_content,
                wants_output_schemas: routing.wants_output_schemas() && knows_structured_content,
                with_token: key.is_access_token(),
                takes_events,
                opens_addresses: confirmation::opens_addresses(version, &params),
            };
            respond(server, key, &asked, (method.as_str(), params), stream).await
        }
        Err(JsonRpcParseError { id, failure }) => {
            let asked = Asked {
                id,
                version: ProtocolVersion::Modern,
                knows_structured_content: false,
                wants_whole_body: false,
                wants_output_schemas: false,
                with_token: false,
                takes_events: false,
                opens_addresses: false,
            };
            with_key(server, key, &asked, |_| Err(failure)).await
        }
    }
}

/// The id and protocol era of the response, and whether its client can read structured content.
#[derive(Clone)]
struct Asked {
    id: Value,
    version: ProtocolVersion,
    knows_structured_content: bool,
    /// It asked for the whole body as structured content, for a program.
    wants_whole_body: bool,
    /// It asked for the schemas of that, for a program that checks it.
    wants_output_schemas: bool,
    /// It came with a token, to which a person can add scopes.
    with_token: bool,
    /// Its client reads a stream of events.
    takes_events: bool,
    /// Its client opens addresses for its user.
    opens_addresses: bool,
}

/// A notification may cancel a call, and changes nothing else; its sender is told that it arrived.
async fn acknowledge(
    server: &McpServer,
    key: KeyHash,
    method: &str,
    params: &Map<String, Value>,
) -> ApiResponse {
    let (result, rate) = ::api::calls::admit(&server.context.app, key).await;
    if result.is_ok() && method == "notifications/cancelled" {
        server.followed.cancel(key, params);
    }
    match result {
        Ok(_) => ApiResponse {
            status: StatusCode::ACCEPTED,
            body: Bytes::new(),
            rate,
            extra: Vec::new(),
        },
        Err(error) => error_response(&server.context, &error, rate, &Value::Null),
    }
}

async fn respond(
    server: &Arc<McpServer>,
    key: KeyHash,
    asked: &Asked,
    (method, params): (&str, Map<String, Value>),
    stream: &EventStream,
) -> ApiResponse {
    match method {
        "tools/call" => call_tool(server, key, asked, params, stream).await,
        "resources/list" => resources::list(server, key, asked, &params).await,
        "resources/read" => resources::read(server, key, asked, &params).await,
        "completion/complete" => completion::complete(server, key, asked, &params).await,
        _ => {
            let answer = |scopes: &Scopes| describe(server, asked, method, scopes, &params);
            with_key(server, key, asked, answer).await
        }
    }
}

/// What a method tells that needs no operation.
fn describe(
    server: &McpServer,
    asked: &Asked,
    method: &str,
    scopes: &Scopes,
    params: &Map<String, Value>,
) -> Result<String, JsonRpcError> {
    match (asked.version, method) {
        (_, "tools/list") => list_tools(server, asked, scopes, params),
        (_, "resources/templates/list") => resources::list_templates(params),
        (_, "prompts/list") => prompts::list(params),
        (_, "prompts/get") => prompts::get(params),
        (ProtocolVersion::Modern, "server/discover") => Ok(discovery()),
        (ProtocolVersion::Legacy, "initialize") => greeting(params),
        (ProtocolVersion::Legacy, "ping") => Ok(String::new()),
        _ => Err(JsonRpcError::unknown_method()),
    }
}

async fn call_tool(
    server: &Arc<McpServer>,
    key: KeyHash,
    asked: &Asked,
    params: Map<String, Value>,
    stream: &EventStream,
) -> ApiResponse {
    let token = progress::progress_token(&params).filter(|_| asked.takes_events);
    if let Some(draft) =
        confirmation::draft_of_repetition(&params).filter(|_| asked.opens_addresses)
    {
        return confirmation::outcome(server, key, asked, draft).await;
    }
    let (operation, arguments) = match tool_call(params) {
        Ok(called) => called,
        Err(failure) => return with_key(server, key, asked, |_| Err(failure)).await,
    };
    match token {
        Some(token) => {
            let call = (operation, arguments);
            progress::follow_call(server, key, asked, call, (token, stream)).await
        }
        None => make_call(server, key, asked, operation, arguments).await,
    }
}

/// Makes the call of a tool; the response is whole.
async fn make_call(
    server: &McpServer,
    key: KeyHash,
    asked: &Asked,
    operation: &'static Operation,
    arguments: Value,
) -> ApiResponse {
    let ignored = call::ignored_arguments(operation, &arguments);
    let call = call::call(operation, key, arguments.clone());
    let (result, rate) = server.context.call(call).await;
    if let Ok(output) = &result {
        let conversation = arguments.get(tools::ID).and_then(Value::as_str);
        if let Some(question) = confirmation::question(server, asked, conversation, output, rate) {
            return question;
        }
    }
    let call = ToolCall { operation, arguments: &arguments, ignored: ignored.as_deref() };
    match call::outcome(asked, &call, result) {
        Ok(body) => ApiResponse { status: StatusCode::OK, body, rate, extra: Vec::new() },
        Err(error @ Error::Lacks { scope, .. }) => {
            let mut reply = error_response(&server.context, &error, rate, &asked.id);
            // All that it has and what it lacks: clients ask for exactly what is named.
            let granted =
                ::api::calls::scopes(&server.context.app, key).await.unwrap_or(Scopes::none());
            // Who may send may draft: the page on which a person chooses does not tick sending.
            let also = (scope == Scope::Send).then_some(Scope::Draft);
            let granted = granted.as_slice().iter().copied();
            let needed: Vec<Scope> = granted.chain([scope]).chain(also).collect();
            let needed = Scopes::new(&needed).to_row();
            challenge(&server.context, &mut reply, Some(Challenge::InsufficientScope), &needed);
            reply
        }
        Err(error) => error_response(&server.context, &error, rate, &asked.id),
    }
}

const NO_SUCH_TOOL: &str = "There is no tool of that name; tools/list tells which there are.";

/// The operation that a call names, and its arguments.
fn tool_call(mut params: Map<String, Value>) -> Result<(&'static Operation, Value), JsonRpcError> {
    let arguments = params.remove("arguments").unwrap_or_else(|| json!({}));
    if !arguments.is_object() {
        return Err(JsonRpcError::invalid_params("arguments must be an object"));
    }
    let Some(name) = params.get("name").and_then(Value::as_str) else {
        return Err(JsonRpcError::invalid_params("name must be the name of a tool"));
    };
    let operation = operations::with_tool(name);
    Ok((operation.ok_or_else(|| JsonRpcError::invalid_params(NO_SUCH_TOOL))?, arguments))
}

/// Answers what needs a key and no operation.
async fn with_key(
    server: &McpServer,
    key: KeyHash,
    asked: &Asked,
    answer: impl FnOnce(&Scopes) -> Result<String, JsonRpcError>,
) -> ApiResponse {
    let (result, rate) = ::api::calls::admit(&server.context.app, key).await;
    match result {
        Ok(scopes) => respond_with(asked, answer(&scopes), rate),
        Err(error) => error_response(&server.context, &error, rate, &asked.id),
    }
}

/// Answers with what an operation gives, in another form than a tool's result. `refuse` says what is wrong
/// with the request; what is wrong with the key, its rate or its plan is told as everywhere.
async fn with_operation(
    server: &McpServer,
    asked: &Asked,
    call: ApiCall,
    answer: impl FnOnce(&OperationOutput) -> Result<String, JsonRpcError>,
    refuse: impl FnOnce(&Error) -> JsonRpcError,
) -> ApiResponse {
    let (result, rate) = server.context.call(call).await;
    match result {
        Ok(output) => respond_with(asked, answer(&output), rate),
        Err(error @ (Error::NotFound(_) | Error::Invalid(_))) => {
            respond_with(asked, Err(refuse(&error)), rate)
        }
        Err(error) => error_response(&server.context, &error, rate, &asked.id),
    }
}

/// The members of a result, or a failure, as an answer.
fn respond_with(
    asked: &Asked,
    outcome: Result<String, JsonRpcError>,
    rate: RateStatus,
) -> ApiResponse {
    let (status, body) = match outcome {
        Ok(members) => (StatusCode::OK, result_body(asked, &members)),
        Err(failure) => (failure.status(asked.version), error_body(&asked.id, &failure)),
    };
    ApiResponse { status, body, rate, extra: Vec::new() }
}

/// An API error with the same status, headers and sentence as in REST. Where the key or token is not one,
/// the sentence speaks of tokens too, and the headers say where to sign in.
fn error_response(
    context: &ApiContext,
    error: &Error,
    rate: RateStatus,
    id: &Value,
) -> ApiResponse {
    let mut reply = context.refuse_error(error, rate);
    let mut failure = JsonRpcError::from_error(error);
    if matches!(error, Error::Unauthorized) && oauth_works_at(&context.own_origin) {
        failure.message = NEEDS_TOKEN_OR_KEY.to_owned();
        challenge(context, &mut reply, Some(Challenge::InvalidToken), DEFAULT_SCOPES);
    }
    reply.body = error_body(id, &failure);
    reply
}

/// What a client without a valid token or key reads.
const NEEDS_TOKEN_OR_KEY: &str = "This needs a valid API key or access token. Send it as the header \
     Authorization: Bearer rk_live_…, rk_test_… or ro_… A client that speaks OAuth gets a token by signing in, as \
     the header WWW-Authenticate says, and replaces one that is over with its refresh token.";

/// The scopes that a client should ask for first.
const DEFAULT_SCOPES: &str = "read write draft";

/// Why a client is sent to ask for access (RFC 6750 section 3.1).
#[derive(Clone, Copy)]
enum Challenge {
    InvalidToken,
    InsufficientScope,
}

impl Challenge {
    fn parameters(self) -> String {
        let (error, description) = match self {
            Challenge::InvalidToken => {
                ("invalid_token", "The access token or key is wrong, over or revoked.")
            }
            Challenge::InsufficientScope => {
                ("insufficient_scope", "The tool needs a scope that the person has not granted.")
            }
        };
        format!("error=\"{error}\", error_description=\"{description}\", ")
    }
}

/// Tells an OAuth client where to ask for access, and for what.
fn challenge(
    context: &ApiContext,
    reply: &mut ApiResponse,
    error: Option<Challenge>,
    scopes: &str,
) {
    if !oauth_works_at(&context.own_origin) {
        return;
    }
    let error = error.map(Challenge::parameters).unwrap_or_default();
    let metadata = format!("{}{}", context.own_origin, RESOURCE_METADATA);
    reply.extra.retain(|(name, _)| name != header::WWW_AUTHENTICATE);
    reply.extra.push((
        header::WWW_AUTHENTICATE,
        format!("Bearer {error}resource_metadata=\"{metadata}\", scope=\"{scopes}\""),
    ));
}

/// A client may ask for JSON, for anything, or say nothing; one that wants only a stream or a page
/// cannot be served.
fn takes_json(headers: &HeaderMap) -> bool {
    let mut wanted = headers.get_all(header::ACCEPT).iter().peekable();
    wanted.peek().is_none()
        || wanted.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(',')).any(
            |range| {
                let range = range.split(';').next().unwrap_or_default().trim();
                ["application/json", "application/*", "*/*"]
                    .iter()
                    .any(|taken| range.eq_ignore_ascii_case(taken))
            },
        )
}

fn list_tools(
    server: &McpServer,
    asked: &Asked,
    scopes: &Scopes,
    params: &Map<String, Value>,
) -> Result<String, JsonRpcError> {
    check_no_cursor(params)?;
    let extras = ToolExtras {
        pages: draft_app::is_shown(asked.version, params),
        output_schemas: asked.wants_output_schemas,
    };
    let tools = server.tools.open_to(scopes, extras);
    Ok(format!("\"tools\":{tools},{}", envelope::KEPT))
}

/// For a list that has one page.
fn check_no_cursor(params: &Map<String, Value>) -> Result<(), JsonRpcError> {
    match params.get("cursor") {
        None => Ok(()),
        Some(_) => Err(JsonRpcError::invalid_params("cursor: this list has one page")),
    }
}

/// What a client of the current era asks first, if it asks at all.
fn discovery() -> String {
    let versions = json!(VERSIONS);
    let instructions = json!(instructions::TEXT);
    format!(
        "\"supportedVersions\":{versions},\"capabilities\":{CAPABILITIES},\
         \"instructions\":{instructions},{}",
        envelope::KEPT
    )
}

/// Nothing is sent but answers to requests, so there is no news of lists and resources; log messages are deprecated
/// in the current version of the protocol.
const CAPABILITIES: &str = r#"{"completions":{},"extensions":{"io.modelcontextprotocol/ui":{}},"prompts":{},"resources":{},"tools":{}}"#;

/// `initialize`: the version that the client offers if it is known, else the newest of that era.
fn greeting(params: &Map<String, Value>) -> Result<String, JsonRpcError> {
    let Some(offered) = params.get("protocolVersion").and_then(Value::as_str) else {
        return Err(JsonRpcError::invalid_params(
            "protocolVersion must be a version such as 2025-11-25",
        ));
    };
    let version = LEGACY.iter().find(|known| **known == offered).unwrap_or(&LEGACY[0]);
    let instructions = json!(instructions::TEXT);
    Ok(format!(
        "\"protocolVersion\":\"{version}\",\"capabilities\":{CAPABILITIES},\
         \"serverInfo\":{},\"instructions\":{instructions}",
        envelope::server_info()
    ))
}
