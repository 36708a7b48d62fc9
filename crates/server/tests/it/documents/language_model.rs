//! The reader that asks a language model, against a stand-in that answers as it is told.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use document_reader::{Endpoint, ModelReader};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::files::{INVOICE, invoice_xml, pdf};
use super::{built_in, shown};

/// The key that came with a question, and the question.
type Asked = (Option<String>, Value);

#[derive(Clone, Default)]
struct StandIn {
    answer: Arc<Mutex<(u16, String)>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl StandIn {
    /// Starts a stand-in that answers with this content.
    async fn says(content: &str) -> (StandIn, ModelReader) {
        let stand_in = StandIn::default();
        let body = json!({ "choices": [{ "message": { "content": content } }] }).to_string();
        *stand_in.answer.lock().unwrap() = (200, body);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router =
            Router::new().route("/v1/chat/completions", post(answer)).with_state(stand_in.clone());
        tokio::spawn(async move { axum_serve(listener, router).await });
        let endpoint = Endpoint {
            url: format!("http://{address}/v1"),
            key: Some("secret".into()),
            model: "small".into(),
        };
        (stand_in, ModelReader::new(endpoint, built_in()).unwrap())
    }

    fn asked(&self) -> Vec<(Option<String>, Value)> {
        self.asked.lock().unwrap().clone()
    }
}

async fn axum_serve(listener: TcpListener, router: Router) {
    server::serve::serve_router(listener, router, std::future::pending()).await.unwrap();
}

async fn answer(
    State(stand_in): State<StandIn>,
    headers: HeaderMap,
    body: String,
) -> (StatusCode, String) {
    let key = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    stand_in.asked.lock().unwrap().push((key, serde_json::from_str(&body).unwrap()));
    let (status, body) = stand_in.answer.lock().unwrap().clone();
    (StatusCode::from_u16(status).unwrap(), body)
}

fn claim(vendor: &str, amount: f64, date: &str) -> String {
    json!({
        "kind": "receipt", "vendor": vendor, "amount": amount, "currency": "EUR", "date": date,
        "dueDate": null, "reference": null,
    })
    .to_string()
}

#[tokio::test]
async fn what_the_model_says_counts_where_the_text_bears_it_out() {
    let (stand_in, reader) = StandIn::says(&claim("Mara Klein", 190.0, "2026-11-16")).await;
    let read = shown(&reader.read_bytes(pdf(INVOICE)).await);
    let fields = json!({
        "vendor": "Mara Klein", "amount": 190.0, "currency": "EUR", "date": "2026-11-16",
        "dueDate": "2026-11-16", "reference": "R-2026-118",
    });
    assert_eq!(read, json!({ "kind": "receipt", "fields": fields }));
    let (key, question) = stand_in.asked().remove(0);
    assert_eq!(key.as_deref(), Some("Bearer secret"));
    assert_eq!(question["model"], "small");
    assert_eq!(question["response_format"]["json_schema"]["strict"], true);
    let text = question["messages"][1]["content"].as_str().unwrap();
    assert!(text.contains("R-2026-118") && !text.contains("%PDF"), "{text}");
}

#[tokio::test]
async fn what_is_not_in_the_text_is_refused() {
    let (_, reader) = StandIn::says(&claim("Acme Corp", 9_999.0, "2020-01-01")).await;
    let read = shown(&reader.read_bytes(pdf(INVOICE)).await);
    assert_eq!(read["fields"]["vendor"], "Lumen Holz GmbH");
    assert_eq!(read["fields"]["amount"], 1190.0);
    assert_eq!(read["fields"]["date"], "2026-11-02");
}

#[tokio::test]
async fn an_answer_out_of_form_leaves_the_word_to_the_rules() {
    let extra = claim("Mara Klein", 190.0, "2026-11-16").replace("}", ", \"more\": 1}");
    for content in ["", "I think it is an invoice.", "{}", "{\"kind\": \"letter\"}", &extra] {
        let (stand_in, reader) = StandIn::says(content).await;
        let read = shown(&reader.read_bytes(pdf(INVOICE)).await);
        assert_eq!(read["kind"], "invoice", "{content}");
        assert_eq!(read["fields"]["amount"], 1190.0, "{content}");
        assert_eq!(stand_in.asked().len(), 1);
    }
}

#[tokio::test]
async fn an_endpoint_that_fails_or_is_gone_leaves_the_word_to_the_rules() {
    let (stand_in, reader) = StandIn::says("").await;
    for status in [401, 429, 500] {
        *stand_in.answer.lock().unwrap() = (status, "no".into());
        assert_eq!(shown(&reader.read_bytes(pdf(INVOICE)).await)["kind"], "invoice", "{status}");
    }
    *stand_in.answer.lock().unwrap() = (200, "x".repeat(1_000_000));
    assert_eq!(shown(&reader.read_bytes(pdf(INVOICE)).await)["kind"], "invoice");
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let endpoint = Endpoint { url: format!("http://{gone}/v1"), key: None, model: "x".into() };
    let reader = ModelReader::new(endpoint, built_in()).unwrap();
    assert_eq!(shown(&reader.read_bytes(pdf(INVOICE)).await)["kind"], "invoice");
}

#[tokio::test]
async fn nobody_is_asked_about_what_a_file_states_itself() {
    let (stand_in, reader) = StandIn::says(&claim("Mara Klein", 190.0, "2026-11-16")).await;
    let read = shown(&reader.read_bytes(invoice_xml().into_bytes()).await);
    assert_eq!(read["fields"]["reference"], "X-42");
    assert!(stand_in.asked().is_empty());
}
