//! API sections 4.14, 5.8 and 8.3: testing an integration without real mail.

mod inbound;
mod invoice;
mod isolation;
mod rate;
mod recipients;

use serde_json::{Value, json};

use crate::support::{Answer, Key, SECOND, TestApp, text_of};

/// The undo window of the sandbox, and how long a simulated customer takes to answer.
const UNDO: i64 = 5 * SECOND;
const ANSWERS_AFTER: i64 = 5 * SECOND;

impl TestApp {
    async fn inbound(&self, key: &Key, body: Value) -> Answer {
        self.post(key, "/sandbox/inbound", body).await
    }

    /// Somebody writes to the sandbox; the conversation's id.
    async fn simulated(&self, key: &Key, from: &str) -> String {
        let body = json!({ "from": from, "subject": "Lamp", "text": "It is broken." });
        text_of(&self.inbound(key, body).await.is(201).json(), "conversationId")
    }

    /// The statuses of our messages in a conversation.
    async fn statuses(&self, key: &Key, id: &str) -> Vec<Value> {
        let messages = self.timeline(key, &id, "message").await;
        let ours = messages.into_iter().filter(|message| message["direction"] == "outbound");
        ours.map(|message| message["status"].clone()).collect()
    }

    /// The texts that came in, in order.
    async fn came_in(&self, key: &Key, id: &str) -> Vec<String> {
        let messages = self.timeline(key, &id, "message").await;
        let theirs = messages.iter().filter(|message| message["direction"] == "inbound");
        theirs.map(|message| text_of(message, "text")).collect()
    }
}
