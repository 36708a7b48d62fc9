//! A button of the panel that somebody presses: a signed call of ours, with the button's id and the person's
//! name. The browser never calls the app.

use std::time::Duration;

use base::actor::Principal;
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::EventId;
use base::limits::{PANEL_ANSWER_BYTES, PANEL_MESSAGE_CHARS, PANEL_PRESS_WAIT_MS};
use base::panel_answers::PanelReply;
use db::Tx;
use model::conversations;
use model::conversations::timeline::{self, TimelineEvent};
use serde_json::Value;

use crate::answer::answer;
use crate::block::PanelBlock;
use crate::question::PanelCase;

/// A press: the button, who pressed it, and the id that a repeated press has too.
#[derive(Clone, Debug)]
pub struct PanelPress {
    pub button: String,
    pub person: String,
    pub id: EventId,
}

/// What became of a press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PressOutcome {
    /// The app did it: the words of the button, and what the app says to it.
    Done { button: String, message: String },
    /// It did not, or nobody knows whether it did.
    Failed(String),
}

/// Tells the app that somebody pressed a button which it shows for this conversation.
pub async fn press(app: &App, case: &PanelCase, press: &PanelPress) -> Result<PressOutcome> {
    let shown = answer(app, case).await?;
    let text = shown.blocks.iter().find_map(|block| match block {
        PanelBlock::Button { id, text } if *id == press.button => Some(text.clone()),
        _ => None,
    });
    let (Some(button), PanelCase::Asks(question)) = (text, case) else {
        return Err(Error::NotFound("button"));
    };
    let caller = app.panels.caller();
    let turn = app.panels.begin(question.key.ws);
    let (Some(caller), Some(_turn)) = (caller, turn) else {
        return Ok(PressOutcome::Failed("Nothing can be asked just now. Try again.".into()));
    };
    let beside = [("button", press.button.as_str()), ("person", press.person.as_str())];
    let within = Duration::from_millis(PANEL_PRESS_WAIT_MS);
    let call = question.call(&press.id, app.clock.now(), &beside, within, PANEL_ANSWER_BYTES);
    let reply = caller.post(&call).await;
    // What it shows may be another thing from now on.
    app.panels.forget(&question.key);
    Ok(match reply {
        PanelReply::Answer { code: 200..=299, body, .. } => {
            PressOutcome::Done { button, message: message(&body) }
        }
        PanelReply::Answer { code, .. } => {
            PressOutcome::Failed(format!("The app answered with status {code}."))
        }
        PanelReply::Failed(sentence) => PressOutcome::Failed(sentence),
    })
}

/// Writes the press down in the conversation's timeline.
pub fn record_press(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str, button: &str) -> Result<()> {
    let conversation = conversations::load(tx, cx.actor, id)?;
    if !matches!(cx.actor.who, Principal::Person { .. }) {
        return Err(Error::Forbidden("Only a person can press a button of the panel.".into()));
    }
    let event = TimelineEvent::PanelPressed { button: button.to_owned() };
    timeline::record(tx, cx, &conversation.id, &event)
}

/// What the app says to a press, in one line.
fn message(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let said = body.get("message").and_then(Value::as_str).unwrap_or_default();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| !c.is_control()).take(PANEL_MESSAGE_CHARS).collect()
}
