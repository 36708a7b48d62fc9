//! Files what is imported in turns: short transactions, between which others write. Mail of the past
//! can wait, and what the other workspaces do meanwhile cannot.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::actor::Actor;
use base::app::{App, Cx};
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use db::Tx;
use model::mailboxes::Mailbox;
use tokio::time::sleep;

use super::routes::{self, RecipientInbox};

/// After this long a transaction begins with nothing more. Writing its index entries and committing it
/// takes about as long again.
const TURN: Duration = Duration::from_millis(100);
/// The pause between two transactions on SQLite. The processes of one file have one writer and no queue
/// for it: whoever waits looks every millisecond whether it is free.
const PAUSE: Duration = Duration::from_millis(10);

/// Files every item in its order, in the inbox as it is.
pub(super) async fn file_in_turns<R, O, F>(
    app: &App,
    inbox: &RecipientInbox,
    items: Vec<R>,
    file: F,
) -> Result<Vec<O>>
where
    R: Send + Sync + 'static,
    O: Send + 'static,
    F: Fn(&mut Tx<'_>, &Cx<'_>, &Mailbox, &R) -> Result<O> + Send + Sync + 'static,
{
    let (items, file) = (Arc::new(items), Arc::new(file));
    let mut outcomes = Vec::with_capacity(items.len());
    while outcomes.len() < items.len() {
        let RecipientInbox { ws, workspace, mailbox } = inbox.clone();
        let actor = Actor::system(ws, workspace, mailbox.circle.clone());
        let (app_of, items, file, filed) =
            (app.clone(), items.clone(), file.clone(), outcomes.len());
        let turn = move |tx: &mut Tx<'_>| {
            let ends = Instant::now() + TURN;
            tx.wake(Queue::Pages);
            let found = routes::as_it_is(tx, &actor, &mailbox)?;
            let (mailbox, actor) = &found.ok_or(Error::NotFound("inbox"))?;
            let cx = app_of.cx(actor);
            let mut outcomes = Vec::new();
            for item in &items[filed..] {
                outcomes.push(file(tx, &cx, mailbox, item)?);
                if Instant::now() >= ends {
                    break;
                }
            }
            Ok::<_, Error>(outcomes)
        };
        outcomes.extend(app.store.write(turn).await?);
        if !app.store.is_shared() {
            sleep(PAUSE).await;
        }
    }
    Ok(outcomes)
}
