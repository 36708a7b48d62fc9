//! What strangers send may be as deep as it likes: nothing that reads it exhausts a stack of 2 MB, which is
//! what threads of the server have, nor that of the threads that serve.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use api::fields::check_body;
use api::operations::OPERATIONS;
use axum::http::{HeaderMap, HeaderValue, header};
use calendar::{BusyQuery, TimeRange, busy_times, read_invitation, read_reply, zone_named};
use mail::{Envelope, PageAddresses, PictureUrls, RemotePictures};
use model::people::oauth_clients::ClientMetadata;
use rules::{RuleAct, RuleCondition};
use search::{Query, excerpt, query_parts};
use serde_json::Value;
use server::api::oauth::Parameters;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Builder;
use transport::imap_client::{ImapConnection, ImapCredential, ImapFault, ImapWire};

/// The stack of a thread that says nothing about it.
const STACK_BYTES: usize = 2 << 20;
/// Levels of everything.
const LEVELS: usize = 20_000;

/// Runs something on a thread with little stack, and on a worker of the runtime.
fn on_small_stacks(work: impl Fn() + Send + Clone + 'static) {
    let again = work.clone();
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(again).unwrap();
    thread.join().unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(runtime.spawn(async move { work() })).unwrap();
}

fn nested(open: &str, close: &str) -> String {
    format!("{}{}", open.repeat(LEVELS), close.repeat(LEVELS))
}

#[test]
fn mails_of_any_depth_leave_the_stack_alone() {
    let mails = [
        "Content-Type: message/ rfc822\n\n".repeat(LEVELS),
        "Content-Type: multipart /digest; boundary=b\n\n--b\n\n".repeat(LEVELS),
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n".repeat(LEVELS),
        format!("Content-Type: text/html\n\n<style>{}</style>x", "@media all{".repeat(LEVELS)),
        format!("Content-Type: text/html\n\n<style>{}</style>x", nested("a{", "}")),
        format!("Content-Type: text/html\n\n{}x", "<div><b>".repeat(LEVELS)),
        format!("To: {}\n\nx", "(".repeat(LEVELS)),
        format!("\n\n{}", "> ".repeat(LEVELS)),
    ];
    on_small_stacks(move || {
        for raw in &mails {
            let raw = raw.as_bytes();
            mail::parse(raw, Envelope::default());
            mail::mail_page(raw, &PageAddresses { pictures: "", remote: RemotePictures::Shown });
            mail::original(raw);
        }
    });
}

#[test]
fn markdown_of_any_depth_leaves_the_stack_alone() {
    on_small_stacks(|| {
        for open in ["> ", "- ", "[", "![", "**", "_", "1. "] {
            let text = open.repeat(LEVELS / 4);
            mail::markdown_html(&text, PictureUrls { before: "", behind: "" });
            mail::markdown_text(&text);
        }
    });
}

#[test]
fn json_of_any_depth_leaves_the_stack_alone() {
    on_small_stacks(|| {
        for json in [nested("[", "]"), nested("{\"a\":", "}"), "[{\"a\":".repeat(LEVELS)] {
            assert!(serde_json::from_str::<Value>(&json).is_err());
            assert!(serde_json::from_str::<Vec<RuleCondition>>(&json).is_err());
            assert!(serde_json::from_str::<Vec<RuleAct>>(&json).is_err());
            assert!(ClientMetadata::of_document("https://x.example/a", json.as_bytes()).is_none());
        }
        // As deep as the parser takes it, for every operation.
        let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
        let body: Value = serde_json::from_str(&format!("{{\"tags\":{deep}}}")).unwrap();
        OPERATIONS.iter().for_each(|operation| drop(check_body(operation.fields, &body)));
    });
}

#[test]
fn queries_and_forms_of_any_depth_leave_the_stack_alone() {
    on_small_stacks(|| {
        for sign in ["(", "\"", "-", "from:", "\"a ", "-\"", "is:(", "a:b:"] {
            let typed = sign.repeat(LEVELS / 10);
            query_parts(&typed);
            if let Some(query) = Query::parse(&typed, 0) {
                excerpt(&typed, &query);
            }
        }
        let mut headers = HeaderMap::new();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(header::CONTENT_TYPE, form);
        let many: String = (0..LEVELS).map(|n| format!("a{n}=b&")).collect();
        assert!(Parameters::of(&headers, many.as_bytes()).is_none());
    });
}

#[test]
fn calendars_of_any_depth_leave_the_stack_alone() {
    on_small_stacks(|| {
        let zone = zone_named("Europe/Berlin").unwrap();
        let day = |text: &str| text.parse().unwrap();
        let window = TimeRange::new(day("2026-10-01T00:00:00Z"), day("2026-10-09T00:00:00Z"));
        let query = BusyQuery {
            window,
            host_zone: &zone,
            host_addresses: &["host@x.example"],
            is_own_uid: &|_| false,
        };
        for open in ["BEGIN:VCALENDAR\r\n", "BEGIN:VEVENT\r\n", "BEGIN:X\r\n", "A;B=\"", " \r\n"] {
            let raw = format!("BEGIN:VCALENDAR\r\n{}", open.repeat(LEVELS));
            let _ = busy_times(raw.as_bytes(), &query);
            let _ = (read_invitation(raw.as_bytes()), read_reply(raw.as_bytes()));
        }
    });
}

#[test]
fn documents_of_any_depth_leave_the_stack_alone() {
    let pdf = |body: &str| {
        format!(
            "%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R{body}>>\nendobj\n\
        2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF"
        )
    };
    let deep_array = pdf(&format!("/Names {}", nested("[", "]")));
    let deep_dictionary = pdf(&format!("/Names {}", nested("<</A", ">>")));
    on_small_stacks(move || {
        for xml in [nested("<a>", "</a>"), "<a>".repeat(LEVELS), nested("<!--", "-->")] {
            let _ = extraction::open(format!("<?xml version=\"1.0\"?>{xml}").as_bytes());
        }
        for pdf in [&deep_array, &deep_dictionary] {
            extraction::files_inside(pdf.as_bytes());
        }
    });
}

#[test]
fn a_tree_of_names_that_runs_in_circles_is_left_soon() {
    let kids = "3 0 R ".repeat(1_000);
    let pdf = format!(
        "%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles 3 0 R>>>>\nendobj\n\
         2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\n3 0 obj\n<</Kids[{kids}]>>\nendobj\n\
         trailer\n<</Root 1 0 R>>\n%%EOF"
    );
    // A thousand to the tenth power of nodes would never end.
    assert!(extraction::files_inside(pdf.as_bytes()).is_empty());
}

#[test]
fn a_hostile_imap_server_is_refused_however_deep_it_nests() {
    let deep = "(".repeat(100_000);
    for said in [
        format!("* 1 FETCH (BODYSTRUCTURE {deep}\r\n"),
        format!("* 1 FETCH (BODY {deep}"),
        format!("* OK x {{100000}}\r\n* 1 FETCH (BODYSTRUCTURE {deep}\r\n"),
        format!("* THREAD {deep}\r\n"),
        format!(
            "* 1 FETCH (BODYSTRUCTURE (\"a\" \"b\" NIL NIL NIL \"7BIT\" 1 NIL NIL NIL NIL {deep}"
        ),
    ] {
        for place in ["", "* OK ready\r\n", "* OK ready\r\nA0001 OK in\r\n"] {
            let said = format!("{place}{said}");
            refuse(said.clone(), 4_096);
            if place.is_empty() {
                refuse(said, 1);
            }
        }
    }
}

/// The same with what a server says, in pieces of this size.
fn refuse(said: String, piece: usize) {
    on_small_stacks(move || {
        let script = Script { said: said.clone().into_bytes(), at: 0, piece };
        let fault = poll_to_end(open(script)).expect_err("refused");
        assert!(matches!(fault, ImapFault::Unclear | ImapFault::TooMuch), "{fault:?}");
    });
}

/// Polls without a runtime, so that all of it happens on this thread.
fn poll_to_end<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut cx = Context::from_waker(std::task::Waker::noop());
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut cx) {
            return done;
        }
    }
}

#[test]
fn an_answer_that_drips_is_parsed_once_for_each_of_its_lines() {
    let uids = (1..60_000).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    let said = format!("* OK ready\r\n* SEARCH {uids}\r\nA0001 NO x\r\n");
    let script = Script { said: said.into_bytes(), at: 0, piece: 1 };
    let fault = poll_to_end(open(script)).expect_err("no login");
    assert_eq!(fault, ImapFault::Refused("x".into()));
}

async fn open(script: Script) -> Result<(), ImapFault> {
    let mut line = ImapConnection::new(ImapWire::new(script));
    line.greeting().await?;
    line.log_in("a", ImapCredential::Password("b")).await?;
    Ok(())
}

/// A server that says the same whatever it is asked.
struct Script {
    said: Vec<u8>,
    at: usize,
    piece: usize,
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let end = self.said.len().min(self.at + self.piece.min(buffer.remaining()));
        buffer.put_slice(&self.said[self.at..end]);
        self.at = end;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
