//! Snoozing a conversation, and releasing a held one.

use db::Tx;

use crate::app::Cx;
use crate::base::error::{Error, Result};
use crate::base::states::Status;
use crate::base::time::Moment;
use crate::inbound::receive;
use crate::model::conversations;
use crate::model::timeline::{self, TimelineEvent};

/// Puts an open conversation away until a time.
pub fn snooze(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str, until: i64) -> Result<()> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    if until <= cx.now {
        return Err(Error::invalid("until", "must be a time to come"));
    }
    if conversation.status != Status::Open {
        return Err(Error::invalid("status", "only an open conversation can be snoozed"));
    }
    conversations::snooze(tx, cx, &mut conversation, until)?;
    let snoozed = TimelineEvent::Snoozed { until: Moment(until) };
    timeline::record(tx, cx, &conversation.id, &snoozed)
}

/// Lets a held conversation go on: its mail is announced now.
pub fn release_held(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &str) -> Result<()> {
    let mut conversation = conversations::load(tx, cx.actor, id)?;
    receive::release(tx, cx, &mut conversation)
}
