//! Simulated customers of the sandbox.

use serde_json::{Value, json};

use crate::{Answer, TestApp, TestKey, text_of};

impl TestApp {
    pub async fn inbound(&self, key: &TestKey, body: Value) -> Answer {
        self.post(key, "/sandbox/inbound", body).await
    }

    /// Somebody writes to the sandbox; the conversation's id.
    pub async fn simulate(&self, key: &TestKey, from: &str) -> String {
        let body = json!({ "from": from, "subject": "Lamp", "text": "It is broken." });
        text_of(&self.inbound(key, body).await.is(201).json(), "conversationId")
    }

    /// The statuses of our messages in a conversation.
    pub async fn statuses(&self, key: &TestKey, id: &str) -> Vec<Value> {
        let messages = self.timeline(key, &id, "message").await;
        let ours = messages.into_iter().filter(|message| message["direction"] == "outbound");
        ours.map(|message| message["status"].clone()).collect()
    }

    /// The texts that came in, in order.
    pub async fn came_in(&self, key: &TestKey, id: &str) -> Vec<String> {
        let messages = self.timeline(key, &id, "message").await;
        let theirs = messages.iter().filter(|message| message["direction"] == "inbound");
        theirs.map(|message| text_of(message, "text")).collect()
    }
}
