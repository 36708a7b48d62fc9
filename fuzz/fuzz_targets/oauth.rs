//! Any bytes as what an OAuth client sends: the form of a request, its header, and its document.
#![no_main]

use http::{HeaderMap, HeaderValue, header};
use model::people::oauth_clients::{ClientMetadata, is_document_address};
use libfuzzer_sys::fuzz_target;
use server::api::oauth::Parameters;

const ADDRESS: &str = "https://client.example/app";

fuzz_target!(|input: (&[u8], &str, &[u8])| {
    let (header_value, address, body) = input;
    let mut headers = HeaderMap::new();
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert(header::CONTENT_TYPE, form);
    if let Ok(value) = HeaderValue::from_bytes(header_value) {
        headers.insert(header::AUTHORIZATION, value);
    }
    if let Some(form) = Parameters::of(&headers, body) {
        let _ = (form.get("code"), form.client_id());
    }
    if let Some(client) = ClientMetadata::of_document(ADDRESS, body) {
        assert!(!client.redirect_uris.is_empty());
        assert!(client.name.is_none_or(|name| !name.contains(char::is_control)));
    }
    if let Ok(json) = serde_json::from_slice(body) {
        let _ = ClientMetadata::of(&json);
    }
    if is_document_address(address) {
        assert!(address.starts_with("https://") && !address.contains('@'));
    }
});
