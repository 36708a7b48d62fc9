//! What the app is asked about a conversation, and which conversations it is asked about.

use std::time::Duration;

use base::app::Cx;
use base::error::Result;
use base::ids::EventId;
use base::panel_answers::{PanelCall, PanelKey};
use base::workspaces::resting;
use db::Tx;
use model::conversations::{self, Conversation};
use model::fields::stored_values;
use model::webhooks::webhook_signing;
use serde_json::{Value, json};

use crate::registration::{self, CustomerPanel};

/// Whether an app is asked about a conversation.
pub enum PanelCase {
    /// None is registered for it, or it is none that is told to apps.
    Off,
    Asks(Box<PanelQuestion>),
}

/// What an app is asked, and how the call is signed.
pub struct PanelQuestion {
    pub(crate) key: PanelKey,
    pub(crate) panel: CustomerPanel,
    secrets: Vec<String>,
    body: Value,
}

impl PanelQuestion {
    /// What people call the app.
    pub fn name(&self) -> &str {
        &self.panel.name
    }

    /// The call, with what is added to the question.
    pub(crate) fn call(
        &self,
        id: &EventId,
        now: i64,
        beside: &[(&str, &str)],
        within: Duration,
        most_bytes: usize,
    ) -> PanelCall {
        let mut body = self.body.clone();
        for (name, value) in beside {
            body[*name] = Value::from(*value);
        }
        let body = body.to_string();
        let headers = webhook_signing::headers(id, now, &body, &self.secrets);
        PanelCall { url: self.panel.url.clone(), headers, body, within, most_bytes }
    }
}

/// What would be asked about a conversation that the actor sees.
pub fn question(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<PanelCase> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    let ws = cx.actor.ws;
    if !is_told(&conversation) {
        return Ok(PanelCase::Off);
    }
    let livemode = !conversation.circle.is_sandbox();
    let Some(panel) = registration::find(tx, ws, livemode)? else { return Ok(PanelCase::Off) };
    if resting::resting(tx, ws)?.is_some() {
        return Ok(PanelCase::Off);
    }
    let secrets = panel.secrets(cx.sealer, ws, cx.now)?;
    let body = json!({
        "address": conversation.contact_email,
        "reference": conversation.reference,
        "fields": stored_values::object(&stored_values::known_about(tx, ws, &conversation)?),
        "conversationId": conversation.id,
    });
    let key = PanelKey {
        ws,
        conversation: conversation.id.to_string(),
        address: conversation.contact_email.to_string(),
    };
    Ok(PanelCase::Asks(Box::new(PanelQuestion { key, panel, secrets, body })))
}

/// True for what the whole team works on, or the sandbox; what is held or thrown away is told to nobody.
fn is_told(conversation: &Conversation) -> bool {
    let circle = &conversation.circle;
    (circle.is_team() || circle.is_sandbox())
        && !conversation.held
        && conversation.removed.is_none()
}
