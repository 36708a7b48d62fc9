//! The API: REST, MCP and the OpenAPI document, rendered from the one table of operations, and OAuth for
//! MCP clients.

pub mod http;
pub mod mcp;
pub mod oauth;
pub mod openapi;
pub mod openapi_events;
pub mod rest;
