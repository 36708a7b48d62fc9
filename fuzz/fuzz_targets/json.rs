//! Any bytes as the body of an API call or the arguments of an MCP tool: every operation's checks.
#![no_main]

use api::fields::check_body;
use api::operations::OPERATIONS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &[u8]| {
    let Ok(body) = serde_json::from_slice::<serde_json::Value>(raw) else { return };
    for operation in OPERATIONS {
        if let Ok(taken) = check_body(operation.fields, &body) {
            let is_known = |name: &String| operation.fields.iter().any(|field| field.name == *name);
            assert!(taken.keys().all(is_known), "{}", operation.name);
        }
    }
});
