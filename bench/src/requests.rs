//! The requests of each figure, made before anything is measured.

use std::fmt::Write;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use server::api::mcp;
use server::api::rest::PREFIX;

use crate::fill::seed::Seeded;
use crate::fill::words::{Vocabulary, rare_word};

/// Different requests for a figure whose words are drawn.
const DIFFERENT: usize = 400;

/// Requests one after another; any of them may be sent at any time.
#[derive(Default)]
pub struct Requests {
    bytes: String,
    ends: Vec<usize>,
}

impl Requests {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes.as_bytes()[start..self.ends[index]]
    }

    /// One request to the API, again and again.
    pub fn of(key: &str, path: &str) -> Requests {
        let mut requests = Requests::default();
        requests.push(key, "GET", path, "");
        requests
    }

    /// Any of some requests to the API.
    pub fn of_paths(key: &str, paths: &[String]) -> Requests {
        let mut requests = Requests::default();
        for path in paths {
            requests.push(key, "GET", path, "");
        }
        requests
    }

    /// Pages of somebody who is signed in.
    pub fn of_pages(session: &str, paths: &[String]) -> Requests {
        let mut requests = Requests::default();
        for path in paths {
            requests.push_page(session, path);
        }
        requests
    }

    /// Conversations, as the API gives them.
    pub fn reads_of(key: &str, ids: &[String]) -> Requests {
        let mut requests = Requests::default();
        for id in ids {
            requests.push(key, "GET", &format!("/conversations/{id}"), "");
        }
        requests
    }

    /// A page, as the browser of somebody who is signed in asks for it.
    fn push_page(&mut self, session: &str, path: &str) {
        self.bytes.push_str(&page_request(session, path));
        self.ends.push(self.bytes.len());
    }

    /// A request to the API.
    fn push(&mut self, key: &str, method: &str, path: &str, body: &str) {
        self.bytes.push_str(&request(key, method, path, body));
        self.ends.push(self.bytes.len());
    }

    fn push_to(
        &mut self,
        key: &str,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) {
        self.bytes.push_str(&request_to(key, method, address, headers, body));
        self.ends.push(self.bytes.len());
    }
}

/// The request of a page, as the browser of somebody who is signed in sends it.
pub fn page_request(session: &str, path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nhost: bench.example\r\naccept: text/html\r\n\
         cookie: mailroom_session={session}; mailroom_zone=Europe%2FBerlin\r\n\r\n"
    )
}

/// One request as it is sent.
pub fn request(key: &str, method: &str, path: &str, body: &str) -> String {
    request_to(key, method, &format!("{PREFIX}{path}"), &[], body)
}

fn request_to(
    key: &str,
    method: &str,
    address: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> String {
    let mut bytes = format!(
        "{method} {address} HTTP/1.1\r\nhost: bench.example\r\naccept: */*\r\n\
         authorization: Bearer {key}\r\n"
    );
    for (name, value) in headers {
        let _ = write!(bytes, "{name}: {value}\r\n");
    }
    let _ = match body {
        "" => write!(bytes, "\r\n"),
        body => write!(
            bytes,
            "content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
    };
    bytes
}

/// One thing that is measured.
pub struct Load {
    pub name: &'static str,
    pub requests: Arc<Requests>,
    pub clients: &'static [usize],
}

const CLIENTS: &[usize] = &[1, 16, 64];
const LIST_CLIENTS: &[usize] = &[1, 16, 32, 64];

/// Everything that is asked of a filled database. Notes come last: they make it grow.
pub fn loads(seeded: &Seeded) -> Vec<Load> {
    let searches = Searches::new(seeded);
    let load = |name, requests| Load { name, requests: Arc::new(requests), clients: CLIENTS };
    vec![
        Load { name: "list", requests: Arc::new(list(seeded)), clients: LIST_CLIENTS },
        Load { name: "mcp-list", requests: Arc::new(mcp_list(seeded)), clients: LIST_CLIENTS },
        load("read-20", reads(seeded, &seeded.of_20)),
        load("read-10", reads(seeded, &seeded.of_10)),
        load("page-inbox", inbox_page(seeded)),
        load("page-20", read_pages(seeded, &seeded.of_20)),
        load("search-rare", searches.searches_of("all", &[Query::Rare])),
        load("search-middle", searches.searches_of("all", &[Query::Middle])),
        load("search-common", searches.searches_of("all", &[Query::Common])),
        load("search-two", searches.searches_of("all", &[Query::TwoWords])),
        load("search-prefix", searches.searches_of("all", &[Query::Prefix])),
        load("search-mixed", searches.searches_of("all", MIXED)),
        load("search-mixed-open", searches.searches_of("open", MIXED)),
        load("note", notes(seeded)),
    ]
}

/// The newest 25 open conversations, as the API gives them unasked.
fn list(seeded: &Seeded) -> Requests {
    let mut requests = Requests::default();
    requests.push(&seeded.key, "GET", "/conversations", "");
    requests
}

/// The same list, asked for by a client of the current MCP specification.
fn mcp_list(seeded: &Seeded) -> Requests {
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "list_conversations"),
    ];
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_conversations","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let mut requests = Requests::default();
    requests.push_to(&seeded.key, "POST", mcp::PATH, &headers, body);
    requests
}

fn reads(seeded: &Seeded, ids: &[String]) -> Requests {
    Requests::reads_of(&seeded.key, ids)
}

fn inbox_page(seeded: &Seeded) -> Requests {
    Requests::of_pages(&seeded.session, &["/inbox?view=open".to_owned()])
}

/// The conversation and, beside it, the list.
fn read_pages(seeded: &Seeded, ids: &[String]) -> Requests {
    let path = |id: &String| format!("/conversations/{id}?view=open");
    Requests::of_pages(&seeded.session, &ids.iter().map(path).collect::<Vec<_>>())
}

fn notes(seeded: &Seeded) -> Requests {
    let body = r#"{"body":"The parcel left on Tuesday. @Ines, can you check with the carrier?"}"#;
    let mut requests = Requests::default();
    for id in &seeded.for_notes {
        requests.push(&seeded.key, "POST", &format!("/conversations/{id}/notes"), body);
    }
    requests
}

/// What is looked for.
#[derive(Clone, Copy)]
enum Query {
    /// A word of three mails, however many there are.
    Rare,
    /// A word of every 200th to 400th mail: many in all, few among the newest.
    Middle,
    /// A word of every 3rd to 20th mail.
    Common,
    TwoWords,
    /// The first four letters of a word.
    Prefix,
}

const MIXED: &[Query] = &[Query::Rare, Query::Common, Query::TwoWords, Query::Prefix];

struct Searches<'a> {
    seeded: &'a Seeded,
    vocabulary: Vocabulary,
}

impl Searches<'_> {
    fn new(seeded: &Seeded) -> Searches<'_> {
        Searches { seeded, vocabulary: Vocabulary::new(seeded.seed) }
    }

    /// Searches of these kinds, in equal parts.
    fn searches_of(&self, view: &str, kinds: &[Query]) -> Requests {
        let mut chance = StdRng::seed_from_u64(self.seeded.seed);
        let mut requests = Requests::default();
        for number in 0..DIFFERENT {
            let words = self.words(kinds[number % kinds.len()], &mut chance);
            let path = format!("/conversations?view={view}&q={words}");
            requests.push(&self.seeded.key, "GET", &path, "");
        }
        requests
    }

    fn words(&self, query: Query, chance: &mut StdRng) -> String {
        let mut word = |from, to| self.vocabulary.word_at(chance.random_range(from..to)).to_owned();
        match query {
            Query::Rare => rare_word(chance.random_range(0..self.seeded.rare_words)),
            Query::Middle => word(3_000, 6_000),
            Query::Common => word(20, 200),
            Query::TwoWords => format!("{}+{}", word(20, 1_000), word(20, 1_000)),
            Query::Prefix => word(500, 5_000).chars().take(4).collect(),
        }
    }
}
