//! Snoozing a conversation, and releasing a held one.

use base::app::Cx;
use base::error::Result;
use db::Tx;
use inbound::receive;
use model::conversations;
use model::conversations::sorting;

/// Puts an open conversation away until a time.
pub fn snooze(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str, until: i64) -> Result<()> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    conversations::snooze(tx, cx, &mut conversation, until)
}

/// Takes the warning off a conversation that somebody checked, and lets it go on if it was held.
pub fn remove_warning(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<()> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    if conversation.risk.is_none() {
        return Ok(());
    }
    sorting::teach_spam(tx, cx, &conversation, false)?;
    receive::release(tx, cx, &mut conversation)?;
    conversations::clear_risk(tx, cx, &mut conversation)
}

/// Lets a held conversation go on: its mail is announced now, and the scam check learns from it.
pub fn release_held(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<()> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    if conversation.held {
        sorting::teach_spam(tx, cx, &conversation, false)?;
    }
    receive::release(tx, cx, &mut conversation)
}
