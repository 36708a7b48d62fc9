//! Any text as a search query over any text: parsed, taken apart for the page, and marked in the text.
#![no_main]

use search::{Query, excerpt, query_parts, query_switch};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (typed, text) = input;
    let _ = (query_parts(typed), query_switch(typed, "is", "open"));
    if let Some(query) = Query::parse(typed, 1_790_000_000_000) {
        let shown: String = excerpt(text, &query).into_iter().map(|part| part.text).collect();
        assert!(shown.chars().count() <= 400, "an excerpt is short");
    }
    let _ = Query::of_words(typed);
});
