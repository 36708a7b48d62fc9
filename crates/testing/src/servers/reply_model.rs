//! A language model that says what it is told, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use jobs::{BoxFuture, ModelReply, ReplyModel};
use serde_json::{Value, json};

/// Answers as the script says; without a script it fails.
#[derive(Default)]
pub struct TestModel {
    asked: Mutex<Vec<Value>>,
    script: Mutex<Vec<Result<String, String>>>,
}

impl TestModel {
    pub fn new() -> Arc<TestModel> {
        Arc::new(TestModel::default())
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    /// The JSON data of a request: language, mail and sources.
    pub fn data(&self, request: usize) -> Value {
        let content = self.requests()[request]["messages"][1]["content"].clone();
        serde_json::from_str(content.as_str().unwrap()).unwrap()
    }

    /// What it answers next, whatever that is.
    pub fn will_say(&self, content: &str) {
        self.script.lock().unwrap().push(Ok(content.to_owned()));
    }

    /// What it answers next: one paragraph that cites a source.
    pub fn will_draft(&self, text: &str, source: &str) {
        self.will_say(
            &json!({
                "answerable": true,
                "language": "en",
                "paragraphs": [{ "text": text, "sources": [source] }],
                "missing": [],
            })
            .to_string(),
        );
    }

    pub fn will_fail(&self, reason: &str) {
        self.script.lock().unwrap().push(Err(reason.to_owned()));
    }
}

impl ReplyModel for TestModel {
    fn name(&self) -> &str {
        "test-model"
    }

    fn ask<'a>(&'a self, request: &'a Value) -> BoxFuture<'a, Result<ModelReply, String>> {
        self.asked.lock().unwrap().push(request.clone());
        let mut script = self.script.lock().unwrap();
        let said = if script.is_empty() { Err("status 500".into()) } else { script.remove(0) };
        Box::pin(async move { said.map(|content| ModelReply { content, tokens: 7 }) })
    }
}
