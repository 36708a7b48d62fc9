//! Tells people of what happened in conversations: see `model::people::notifications`.

use std::sync::Arc;

use base::actor::Circle;
use base::app::{App, Cx};
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{ConversationId, UserId};
use db::Tx;
use model::people::notifications::dispatch;
use outbound::approval_mail;

use crate::OpenPages;
use crate::runs::failures::{JobRevival, JobRule, send_no_notice, system};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime};

/// Facts looked at in one round; each of their people is told once.
const AT_ONCE: i64 = 200;

const ROWS: JobRows = job_rows!(outward "notice_facts", "due_at", "person");

/// What cannot be told is reported by the log and the metrics.
pub(crate) const RULE: JobRule = JobRule {
    queue: Queue::Notifications,
    retry_at: Some(
        "UPDATE notice_facts SET due_at = ?1 WHERE ws = ?2 AND person = ?3 AND due_at < ?1",
    ),
    abandon: ROWS.delete,
    revival: JobRevival::Statement(ROWS.move_to),
    report: send_no_notice,
};

pub(crate) struct NotifyPeople {
    pub runtime: JobRuntime,
    pub open_pages: Option<Arc<dyn OpenPages>>,
}

impl BackgroundJob for NotifyPeople {
    fn queue(&self) -> Queue {
        Queue::Notifications
    }

    fn earliest(&self) -> &'static str {
        ROWS.earliest
    }

    fn is_outward(&self) -> bool {
        true
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let mut due = self.runtime.due_rows::<(i64, String)>(ROWS.due, AT_ONCE).await?;
            let mut met = std::collections::HashSet::new();
            due.retain(|job| met.insert(job.clone()));
            let open_pages = self.open_pages.clone();
            let tell = move |tx: &mut Tx<'_>, app: &App, job: &DueJob| {
                tell(tx, app, job, open_pages.as_deref())
            };
            Ok(self.runtime.run_each(&RULE, due, tell).await.into())
        })
    }
}

fn tell(
    tx: &mut Tx<'_>,
    app: &App,
    job: &DueJob,
    open_pages: Option<&dyn OpenPages>,
) -> Result<bool> {
    let (now, ws) = (app.clock.now(), job.ws);
    let Some(person) = UserId::parse(&job.key[0]) else { return Ok(false) };
    let actor = system(tx, ws, Circle::team())?;
    let is_open = |conversation: &ConversationId| {
        open_pages.is_some_and(|pages| pages.has_open(ws, conversation, &person, now))
    };
    let cx = Cx { now, ..app.cx(&actor) };
    dispatch::tell_due(tx, &cx, &person, &is_open, approval_mail::of_conversation)
}
