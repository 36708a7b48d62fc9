//! Reads the calendars that say when hosts are busy.

use std::sync::Arc;

use base::actor::{Actor, Circle};
use base::app::{App, Cx};
use base::concurrency::blocking::spawn_blocking;
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::{Error, Result};
use base::ids::{BusyCalendarId, UserId};
use bookings::calendars::{self, CalendarAnswer, CalendarOutcome, CalendarSource, busy_ranges};
use db::Tx;

use crate::ports::calendar_reader::CalendarReader;
use crate::runs::failures::{JobRule, notify_owners, system};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, ClaimRule, DueJob, JobRound, JobRuntime};

const ROWS: JobRows = job_rows!(outward "busy_calendars", "next_fetch_at", "id");

const CLAIM: ClaimRule = ClaimRule { due: ROWS.due, lease: ROWS.move_to, at_once: 4 };

pub(super) const RULE: JobRule = ROWS.clearing(Queue::BusyCalendars, notify_owners);

/// What a claimed calendar is read with.
struct CalendarJob {
    actor: Actor,
    id: BusyCalendarId,
    source: CalendarSource,
    zone: String,
    email: String,
}

#[derive(Clone)]
pub(super) struct FetchCalendars {
    pub runtime: JobRuntime,
    pub calendar_reader: Arc<dyn CalendarReader>,
}

impl BackgroundJob for FetchCalendars {
    fn queue(&self) -> Queue {
        Queue::BusyCalendars
    }

    fn earliest(&self) -> &'static str {
        ROWS.earliest
    }

    fn is_outward(&self) -> bool {
        true
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(async {
            let jobs = self.runtime.claim::<(i64, String)>(&CLAIM).await?;
            let claimed = jobs.len();
            for job in jobs {
                let (this, own) = (self.clone(), job.clone());
                let work = async move { this.fetch(own).await };
                self.runtime.start(&RULE, job, work, ());
            }
            Ok(claimed.into())
        })
    }
}

impl FetchCalendars {
    async fn fetch(&self, job: DueJob) -> Result<()> {
        let app = self.runtime.app.clone();
        let loading = app.clone();
        let claimed = app.store.read(move |tx| load(tx, &loading, &job)).await?;
        let Some(claimed) = claimed else { return Ok(()) };
        let outcome = match self.calendar_reader.read(&claimed.source).await {
            CalendarAnswer::Unchanged => CalendarOutcome::Unchanged,
            CalendarAnswer::Failed(sentence) => CalendarOutcome::Failed(sentence),
            CalendarAnswer::Feed { bytes, etag } => {
                let (zone, email) = (claimed.zone.clone(), claimed.email.clone());
                let (url, now) = (Arc::clone(&app.public_url), app.clock.now());
                let work = move || busy_ranges(&bytes, &zone, &email, &url, now);
                match spawn_blocking(work).await? {
                    Ok(ranges) => CalendarOutcome::Busy { ranges, etag },
                    Err(sentence) => CalendarOutcome::Failed(sentence),
                }
            }
        };
        let recording = app.clone();
        app.store
            .write(move |tx| {
                let cx: Cx<'_> = recording.cx(&claimed.actor);
                tx.wake(Queue::Pages);
                calendars::record(tx, &cx, &claimed.id, &outcome)
            })
            .await
    }
}

fn load(tx: &mut Tx<'_>, app: &App, job: &DueJob) -> Result<Option<CalendarJob>> {
    let id = BusyCalendarId::parse(&job.key[0]).ok_or(Error::NotFound("calendar"))?;
    let actor = system(tx, job.ws, Circle::team())?;
    let cx = app.cx(&actor);
    let Some(source) = calendars::source(tx, &cx, &id)? else { return Ok(None) };
    let found: Option<(UserId, String, String)> = tx.opt(
        "SELECT c.person, coalesce(h.zone, 'UTC'), coalesce(u.email, '') FROM busy_calendars c
         LEFT JOIN hosts h ON h.ws = c.ws AND h.person = c.person
         LEFT JOIN users u ON u.ws = c.ws AND u.id = c.person
         WHERE c.ws = ?1 AND c.id = ?2",
        &[&job.ws, &id],
    )?;
    Ok(found.map(|(_, zone, email)| CalendarJob { actor, id, source, zone, email }))
}
