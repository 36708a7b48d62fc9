//! What a customer does on the upload page, and what becomes of it (API sections 2.7 to 2.9, 4.8,
//! 4.9 and the decisions on documents).

mod checks;
mod completing;
mod cut_off;
mod failures;
mod forms_sent_again;
mod guessing;
mod page;
mod plain;
mod reminders;
mod sharing;
mod team;

use std::fs::File;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Request;
use base::files::scanner::{ScanResult, Scanner, Scanning};
use serde_json::{Value, json};

use crate::support::*;

/// A small file that is a whole PDF.
pub fn pdf(words: &str) -> Vec<u8> {
    model::documents::pdf::sheet("PAPER", &[words])
}

/// A PDF of about this many bytes that no packing makes small.
pub fn large_pdf(bytes: usize) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut state = 1u64;
    while file.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Letters alone: no two of them begin a name such as /Encrypt.
        file.push(b'a' + (state >> 59) as u8 % 26);
    }
    file.extend_from_slice(b"\nstartxref\n0\n%%EOF\n");
    file
}

/// A virus scanner that is told what to find.
pub struct TestScanner(Mutex<ScanResult>);

impl TestScanner {
    pub fn says(&self, scan: ScanResult) {
        *self.0.lock().unwrap() = scan;
    }
}

impl Scanner for TestScanner {
    fn scan(&self, _: File) -> Scanning<'_> {
        let said = self.0.lock().unwrap().clone();
        Box::pin(async move { said })
    }
}

/// Somebody who was asked for documents.
pub struct Customer<'a> {
    pub app: &'a TestApp,
    pub conversation: String,
    pub message: String,
    pub request: String,
    pub path: String,
}

impl TestApp {
    /// Ann is asked for these documents and the message leaves.
    pub async fn ask(&self, key: &TestKey, documents: Value) -> Customer<'_> {
        let mail = self.mail("ann@shop.example Ann Shopper", "Lamps", "Hello").await;
        let asked = self.ask_in(key, mail.conversation.as_str(), documents).await;
        self.pass(UNDO).await;
        asked
    }

    /// Files of customers that are on the disk and not handed over or swept yet.
    pub fn uploads_on_disk(&self) -> usize {
        std::fs::read_dir(self.blob_folder().join("arriving")).unwrap().count()
    }

    /// The one text that a query gives.
    pub async fn column(&self, sql: &str) -> String {
        let sql = sql.to_owned();
        self.act(&self.owner, move |tx, _| Ok(tx.one::<(String,)>(&sql, &[])?.0)).await
    }

    /// The same with a virus scanner that says what it is told to.
    pub fn with_scanner(mut self) -> (TestApp, Arc<TestScanner>) {
        let scanner = Arc::new(TestScanner(Mutex::new(ScanResult::Clean)));
        self.set_scanner(scanner.clone());
        (self, scanner)
    }

    pub async fn ask_in(&self, key: &TestKey, id: &str, documents: Value) -> Customer<'_> {
        let body = json!({ "documents": documents, "send": true, "message": "For the account." });
        let result = self.on(key, &id, "document-requests", body).await.is(201).json();
        let message = text_of(&result, "messageId");
        let letters = self.timeline(key, &id, "message").await;
        let letter = letters.iter().find(|letter| letter["id"] == result["messageId"]).unwrap();
        let text = text_of(letter, "text");
        let (_, path) = text.split_once(PUBLIC_URL).expect("a link");
        Customer {
            app: self,
            conversation: id.to_owned(),
            message,
            request: text_of(&result, "requestId"),
            path: path.split_whitespace().next().unwrap().to_owned(),
        }
    }
}

impl Customer<'_> {
    /// The same one again, for a change of the link.
    pub fn another(&self) -> Customer<'_> {
        Customer {
            app: self.app,
            conversation: self.conversation.clone(),
            message: self.message.clone(),
            request: self.request.clone(),
            path: self.path.clone(),
        }
    }

    pub async fn page(&self) -> String {
        let answer = self.call("GET", "", &[], Body::empty()).await.is(200);
        String::from_utf8(answer.bytes).unwrap()
    }

    pub async fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Body,
    ) -> Answer {
        let path = format!("{}{path}", self.path);
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.app.send(request.body(body).unwrap()).await
    }

    /// Makes room for a file.
    pub async fn begin(&self, item: i64, name: &str, size: usize) -> Answer {
        let wish = json!({ "item": item, "name": name, "size": size, "mark": format!("{name} 1") });
        self.call("POST", "/uploads", &[], Body::from(wish.to_string())).await
    }

    pub async fn send(&self, id: &str, offset: usize, bytes: &[u8]) -> Answer {
        let headers = [("upload-offset", &*offset.to_string())];
        self.call("PATCH", &format!("/uploads/{id}"), &headers, Body::from(bytes.to_vec())).await
    }

    /// Adds a whole file in one piece; answers what the server says of it.
    pub async fn add(&self, item: i64, name: &str, bytes: &[u8]) -> Value {
        let begun = self.begin(item, name, bytes.len()).await.is(201).json();
        self.send(&text_of(&begun, "id"), 0, bytes).await.is(200).json()
    }

    pub async fn hand_over(&self) {
        self.call("POST", "", &[], Body::empty()).await.is(303);
    }

    /// Posts files as a browser without scripts does, from a page of an earlier version.
    pub async fn post_files(&self, item: i64, files: &[(&str, &[u8])]) -> Answer {
        self.app.send(self.form_request(item, None, files)).await
    }

    /// The id of the forms of the page that is shown now.
    pub async fn form_id(&self) -> String {
        let page = self.page().await;
        let (_, rest) = page.split_once("name=\"form_id\" value=\"").expect("the id of a form");
        rest.split('"').next().unwrap().to_owned()
    }

    /// Posts files from the form with this id.
    pub async fn post_form(&self, item: i64, form: &str, files: &[(&str, &[u8])]) -> Answer {
        self.app.send(self.form_request(item, Some(form), files)).await
    }

    pub fn form_request(
        &self,
        item: i64,
        form: Option<&str>,
        files: &[(&str, &[u8])],
    ) -> Request<Body> {
        let mut body = Vec::new();
        if let Some(form) = form {
            body.extend_from_slice(b"--border\r\nContent-Disposition: form-data; ");
            body.extend_from_slice(format!("name=\"form_id\"\r\n\r\n{form}\r\n").as_bytes());
        }
        for (name, bytes) in files {
            body.extend_from_slice(b"--border\r\nContent-Disposition: form-data; name=\"file\"; ");
            body.extend_from_slice(format!("filename=\"{name}\"\r\n\r\n").as_bytes());
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--border--\r\n");
        Request::post(format!("{}/items/{item}", self.path))
            .header("content-type", "multipart/form-data; boundary=border")
            .body(Body::from(body))
            .unwrap()
    }

    /// The names and data of what happened, from the request on.
    pub async fn happened(&self, key: &TestKey, names: &[&str]) -> Vec<(String, Value)> {
        let mut all = self.app.timeline_events(key, &self.conversation).await;
        all.retain(|(name, _)| names.contains(&name.as_str()));
        all
    }
}

/// The files that the library lists, newest first.
pub async fn filed(app: &TestApp, key: &TestKey) -> Vec<String> {
    let list = app.get(key, "/documents").await.is(200).json();
    texts(list.as_array().unwrap(), "filename")
}

/// How often an event was told.
pub async fn told(app: &TestApp, kind: &str) -> usize {
    app.event_types().await.iter().filter(|found| *found == kind).count()
}
