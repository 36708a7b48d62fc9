//! Asking the app, and what it answers.

use std::time::Duration;

use base::app::{App, Cx};
use base::error::Result;
use base::ids::EventId;
use base::limits::{PANEL_ANSWER_BYTES, PANEL_WAIT_MS};
use base::panel_answers::{PanelReply, RecentAnswer};
use base::string_enum::string_enum;
use base::time::Moment;
use db::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::{PanelBlock, read_blocks};
use crate::question::{PanelCase, PanelQuestion, question};
use crate::registration;

string_enum! {
    /// What became of asking: no app is asked about this conversation, it answered, it knows nothing of
    /// the customer, or no right answer came in time.
    PanelState {
        Off = "off",
        Answered = "answered",
        Unknown = "unknown",
        Unanswered = "unanswered",
    }
}

/// What an app knows of the customer of a conversation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PanelAnswer {
    /// off: no app is asked about this conversation. answered: blocks has what it said. unknown: it knows
    /// nothing of the customer. unanswered: no right answer came in time.
    pub state: PanelState,
    /// What the team calls the app, such as “the shop”.
    pub name: Option<String>,
    /// When it answered; an answer counts for a minute.
    pub at: Option<Moment>,
    pub blocks: Vec<PanelBlock>,
}

impl PanelAnswer {
    fn without_blocks(state: PanelState, name: Option<&str>) -> PanelAnswer {
        PanelAnswer { state, name: name.map(str::to_owned), at: None, blocks: Vec::new() }
    }

    fn of(question: &PanelQuestion, recent: &RecentAnswer) -> Result<PanelAnswer> {
        let blocks: Vec<PanelBlock> = serde_json::from_str(&recent.body)?;
        let state = if blocks.is_empty() { PanelState::Unknown } else { PanelState::Answered };
        let (name, at) = (Some(question.panel.name.clone()), Some(Moment(recent.at)));
        Ok(PanelAnswer { state, name, at, blocks })
    }
}

/// What was answered in the last minute, without asking.
pub fn latest_answer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<PanelAnswer> {
    let question = match question(tx, cx, id)? {
        PanelCase::Off => return Ok(PanelAnswer::without_blocks(PanelState::Off, None)),
        PanelCase::Asks(question) => question,
    };
    match cx.panels.recent(&question.key, cx.now) {
        Some(recent) => PanelAnswer::of(&question, &recent),
        None => {
            let name = Some(question.name());
            Ok(PanelAnswer::without_blocks(PanelState::Unanswered, name))
        }
    }
}

/// The answer of the last minute, or one that is asked for now and comes in time.
pub async fn answer(app: &App, case: &PanelCase) -> Result<PanelAnswer> {
    let question = match case {
        PanelCase::Off => return Ok(PanelAnswer::without_blocks(PanelState::Off, None)),
        PanelCase::Asks(question) => question,
    };
    if let Some(recent) = app.panels.recent(&question.key, app.clock.now()) {
        return PanelAnswer::of(question, &recent);
    }
    match ask(app, question).await {
        Some(blocks) => {
            let body = serde_json::to_string(&blocks)?.into();
            let recent = RecentAnswer { at: app.clock.now(), body };
            app.panels.keep(question.key.clone(), recent.clone());
            PanelAnswer::of(question, &recent)
        }
        None => {
            let name = Some(question.name());
            Ok(PanelAnswer::without_blocks(PanelState::Unanswered, name))
        }
    }
}

/// The blocks of a right answer in time; how the app fared is written down beside.
async fn ask(app: &App, question: &PanelQuestion) -> Option<Vec<PanelBlock>> {
    let caller = app.panels.caller()?;
    let _turn = app.panels.begin(question.key.ws)?;
    let now = app.clock.now();
    let within = Duration::from_millis(PANEL_WAIT_MS);
    let id = EventId::new(&app.ids, now);
    let call = question.call(&id, now, &[], within, PANEL_ANSWER_BYTES);
    let outcome = read_reply(caller.post(&call).await);
    let problem = outcome.as_ref().err().cloned().unwrap_or_default();
    if question.panel.lacks(&problem, now) {
        let (store, ws, livemode) = (app.store.clone(), question.key.ws, question.panel.livemode);
        app.background.start("how the customer panel fares", async move {
            store.write(move |tx| registration::note(tx, ws, livemode, &problem, now)).await
        });
    }
    outcome.ok()
}

fn read_reply(reply: PanelReply) -> std::result::Result<Vec<PanelBlock>, String> {
    match reply {
        PanelReply::Failed(sentence) => Err(sentence),
        PanelReply::Answer { code, .. } if !(200..300).contains(&code) => {
            Err(format!("The app answered with status {code}."))
        }
        PanelReply::Answer { is_whole: false, .. } => {
            Err(format!("The answer is longer than {PANEL_ANSWER_BYTES} bytes."))
        }
        PanelReply::Answer { body, .. } => read_blocks(&body),
    }
}
