//! Extracts kind and fields of new documents, one or two at a time.

use std::sync::Arc;

use base::actor::{Actor, Circle};
use base::app::{App, Cx};
use base::concurrency::future::BoxFuture;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::ids::{DocumentId, WorkspaceId};
use base::limits::{DOCUMENT_READ_BYTES, MINUTE_MS};
use db::Tx;
use metrics::counter;
use model::documents;
use model::documents::{DocumentFields, DocumentKind};

use super::{DocumentFile, DocumentReader, ExtractionOutcome};
use crate::runs::concurrency::{FreeSlots, JobSlots};
use crate::runs::failures::{JobFailure, JobRevival, JobRule};
use crate::runs::fair_share::{FairShare, FairShareCursor, fair_share};
use crate::runs::job_rows::{JobRows, job_rows};
use crate::runs::runtime::{BackgroundJob, DueJob, JobRound, JobRuntime, LEASE_MS};

/// Concurrent extractions, in total and per workspace.
const IN_FLIGHT: usize = 2;
const IN_FLIGHT_EACH: usize = 1;
/// Attempts per document, so that one that always crashes its reader is not retried forever.
const ATTEMPTS: i64 = 3;

const WORKSPACES: FairShare = fair_share!("documents", "ws", "extract_at");

const ROWS: JobRows = job_rows!("documents", "extract_at", "id");

/// An unreadable document gets the kind `other`, as an empty one does.
pub(super) const RULE: JobRule = JobRule {
    queue: Queue::Documents,
    retry_at: Some(
        "UPDATE documents SET extract_at = ?1
         WHERE ws = ?2 AND id = ?3 AND extract_at IS NOT NULL AND corrected = FALSE",
    ),
    abandon: ROWS.clear,
    revival: JobRevival::Statement(
        "UPDATE documents SET extract_at = ?1 WHERE ws = ?2 AND id = ?3 AND corrected = FALSE",
    ),
    report: call_it_other,
};

/// The wait after a try that came to nothing.
fn retry_after(attempts: i64) -> i64 {
    if attempts <= 1 { MINUTE_MS } else { 10 * MINUTE_MS }
}

db::row! {
    /// A claimed document.
    #[derive(Clone)]
    struct ExtractionJob from "d" {
        ws: i64,
        workspace: WorkspaceId = "w.id",
        circle: Circle,
        id: DocumentId,
        filename: String,
        content_type: String,
        size: i64,
        hash: String,
        attempts: i64 = "d.extract_attempts",
    }
}

#[derive(Clone)]
pub(super) struct ExtractDocuments {
    runtime: JobRuntime,
    document_reader: Arc<dyn DocumentReader>,
    slots: JobSlots,
    last_workspace: FairShareCursor<i64>,
}

impl BackgroundJob for ExtractDocuments {
    fn queue(&self) -> Queue {
        Queue::Documents
    }

    fn earliest(&self) -> &'static str {
        ROWS.earliest
    }

    fn slots(&self) -> Option<&JobSlots> {
        Some(&self.slots)
    }

    fn run(&self) -> BoxFuture<'_, Result<JobRound>> {
        Box::pin(self.start_due())
    }
}

impl ExtractDocuments {
    pub(super) fn new(
        runtime: JobRuntime,
        document_reader: Arc<dyn DocumentReader>,
    ) -> ExtractDocuments {
        let slots = JobSlots::new(IN_FLIGHT_EACH, IN_FLIGHT);
        let last_workspace = FairShareCursor::default();
        ExtractDocuments { runtime, document_reader, slots, last_workspace }
    }

    async fn start_due(&self) -> Result<JobRound> {
        let app = self.runtime.app.clone();
        let (free, last) = (self.slots.free(), self.last_workspace.get());
        if free.all == 0 {
            return Ok(JobRound::without_slots());
        }
        let claim = move |tx: &mut Tx<'_>| claim_due(tx, &app, &free, last);
        let Claims { jobs, last, partial } = self.runtime.app.store.write(claim).await?;
        let partial = self.last_workspace.advance(last, jobs.len(), partial);
        let round = JobRound { claimed: jobs.len(), full: jobs.is_empty(), partial };
        for job in jobs {
            let slot = self.slots.enter(&job.ws.to_string());
            let (this, own) = (self.clone(), job.clone());
            let work = async move { this.extract_claimed(own).await };
            self.runtime.start(&RULE, job, work, slot);
        }
        Ok(round)
    }

    async fn extract_claimed(&self, job: DueJob) -> Result<()> {
        let claimed = self.runtime.app.store.read(move |tx| load(tx, &job)).await?;
        let id = claimed.id.clone();
        let found = match self.fetch(&claimed).await {
            Ok(Some(document)) => self.document_reader.read(&document).await,
            Ok(None) => {
                ExtractionOutcome::Unreadable("it is too large, or its file is gone".into())
            }
            Err(error) => ExtractionOutcome::Later(error.to_string()),
        };
        counter!("mailroom_documents_read_total", "outcome" => found.as_str()).increment(1);
        match &found {
            ExtractionOutcome::Read { kind, .. } => {
                tracing::info!(%id, kind = kind.as_str(), "document extracted")
            }
            ExtractionOutcome::Unreadable(reason) => {
                tracing::info!(%id, reason, "document is unreadable")
            }
            ExtractionOutcome::Later(reason) => {
                tracing::warn!(%id, reason, "document extraction failed")
            }
        }
        self.record_extraction(claimed, found).await
    }

    /// The document's file; `None` above the size limit of the readers.
    async fn fetch(&self, claimed: &ExtractionJob) -> Result<Option<DocumentFile>> {
        if claimed.size > DOCUMENT_READ_BYTES {
            return Ok(None);
        }
        let (blobs, ws, hash) = (self.runtime.app.blobs.clone(), claimed.ws, claimed.hash.clone());
        let bytes = self.runtime.app.store.read(move |tx| blobs.get(tx, ws, &hash)).await?;
        Ok(bytes.map(|bytes| DocumentFile {
            filename: claimed.filename.clone(),
            content_type: claimed.content_type.clone(),
            bytes,
        }))
    }

    async fn record_extraction(
        &self,
        claimed: ExtractionJob,
        found: ExtractionOutcome,
    ) -> Result<()> {
        let (workspace, circle) = (claimed.workspace.clone(), claimed.circle.clone());
        let actor = Actor::system(claimed.ws, workspace, circle);
        self.runtime.app.act(&actor, move |tx, cx| record(tx, cx, &claimed, &found)).await
    }
}

fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    claimed: &ExtractionJob,
    found: &ExtractionOutcome,
) -> Result<()> {
    let (ws, id) = (cx.actor.ws, &claimed.id);
    if matches!(found, ExtractionOutcome::Later(_)) && claimed.attempts < ATTEMPTS {
        tx.exec(
            "UPDATE documents SET extract_at = ?3
             WHERE ws = ?1 AND id = ?2 AND extract_at IS NOT NULL AND corrected = FALSE",
            &[&ws, id, &(cx.now + retry_after(claimed.attempts))],
        )?;
        return Ok(());
    }
    // None is left when a person corrected it meanwhile, or another process was faster.
    let waited = tx.exec(
        "UPDATE documents SET extract_at = NULL
         WHERE ws = ?1 AND id = ?2 AND extract_at IS NOT NULL AND corrected = FALSE",
        &[&ws, id],
    )?;
    if waited == 0 {
        return Ok(());
    }
    match found {
        ExtractionOutcome::Read { kind, fields, text } => {
            documents::keep_text(tx, ws, id, text)?;
            documents::describe(tx, (ws, cx.now), id, *kind, fields)
        }
        ExtractionOutcome::Unreadable(_) | ExtractionOutcome::Later(_) => {
            let fields = DocumentFields::default();
            documents::describe(tx, (ws, cx.now), id, DocumentKind::Other, &fields)
        }
    }
}

/// The documents taken on, and the workspace that the round ended with.
struct Claims {
    jobs: Vec<DueJob>,
    last: i64,
    /// Further workspaces may have some.
    partial: bool,
}

fn claim_due(tx: &mut Tx<'_>, app: &App, free: &FreeSlots, last: i64) -> Result<Claims> {
    let now = app.clock.now();
    let due = WORKSPACES.due(tx, now, &last)?;
    let mut claims = Claims { jobs: Vec::new(), last: due.end, partial: due.partial };
    for ws in due.owners {
        let left = free.all - claims.jobs.len();
        for id in due_documents(tx, ws, now, free.of(&ws.to_string()).min(left))? {
            tx.exec(
                "UPDATE documents SET extract_at = ?3, extract_attempts = extract_attempts + 1
                 WHERE ws = ?1 AND id = ?2",
                &[&ws, &id, &(now + LEASE_MS)],
            )?;
            claims.jobs.push(DueJob::from((ws, id)));
        }
        if claims.jobs.len() == free.all {
            claims.last = ws;
            break;
        }
    }
    Ok(claims)
}

/// The documents of a workspace that are due, those that another process holds left alone.
fn due_documents(tx: &mut Tx<'_>, ws: i64, now: i64, most: usize) -> Result<Vec<String>> {
    let lock = tx.pick("", " FOR UPDATE SKIP LOCKED");
    let due: Vec<(String,)> = tx.all(
        &format!(
            "SELECT id FROM documents
             WHERE ws = ?1 AND extract_at <= ?2 ORDER BY extract_at, id LIMIT ?3{lock}"
        ),
        &[&ws, &now, &(most as i64)],
    )?;
    Ok(due.into_iter().map(|(id,)| id).collect())
}

fn load(tx: &mut Tx<'_>, job: &DueJob) -> Result<ExtractionJob> {
    Ok(tx.one(
        &format!(
            "SELECT {} FROM documents d JOIN workspaces w ON w.ws = d.ws
             WHERE d.ws = ?1 AND d.id = ?2",
            ExtractionJob::COLUMNS
        ),
        &[&job.ws, &job.key[0]],
    )?)
}

fn call_it_other(tx: &mut Tx<'_>, app: &App, failure: &JobFailure) -> Result<()> {
    let id = DocumentId::parse(&failure.job.key[0]);
    match id.filter(|_| failure.given_up) {
        Some(id) => {
            let fields = DocumentFields::default();
            let place = (failure.job.ws, app.clock.now());
            documents::describe(tx, place, &id, DocumentKind::Other, &fields)
        }
        None => Ok(()),
    }
}
