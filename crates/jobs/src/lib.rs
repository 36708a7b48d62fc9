//! Background jobs: one file each, and the worker that runs them. One failing job does not affect
//! the others: see `failures`.

mod cleaning;
mod count_reports;
mod deliver_webhooks;
mod delivery_attempts;
mod draft_replies;
mod end_snoozes;
mod extract_documents;
mod fetch_app_mail;
mod fetch_calendars;
mod miss_targets;
mod notices;
mod outgoing;
mod ports;
pub mod queues;
mod run_rules;
mod runs;
mod sort_conversations;

use std::sync::Arc;

use base::concurrency::queue::Queue;

use crate::runs::failures::JobRule;
use crate::runs::job_rows::{RowJob, RunRows};
use crate::runs::runtime::{BackgroundJob, JobRuntime};

pub use crate::cleaning::erase_deleted::{DeletionOutcome, finish_deletion, finish_deletions};
pub use crate::outgoing::outgoing_mail::sent_copy;
pub use crate::outgoing::plus_tag_test::send_plus_tag_test;
pub use crate::outgoing::test_mail::{TestMail, send_test_mail};
pub use crate::ports::app_mail_reader::{AppMailBody, AppMailReader, AppMailRequest};
pub use crate::ports::calendar_reader::CalendarReader;
pub use crate::ports::document_reader::{DocumentFile, DocumentReader, ExtractionOutcome};
pub use crate::ports::open_pages::OpenPages;
pub use crate::ports::push_sender::{PushRequest, PushResponse, PushSender};
pub use crate::ports::relay::{OutgoingMail, Relay, RelayOutcome, RelayReason};
pub use crate::ports::reply_model::{ModelReply, ReplyModel};
pub use crate::ports::webhook_sender::{WebhookRequest, WebhookResponse, WebhookSender};
pub use crate::runs::counters::start_counters;
pub use crate::runs::worker::Worker;
pub use base::concurrency::future::BoxFuture;
pub use delivery_attempts::RETRIES_MS as DELIVERY_RETRIES_MS;

/// The traits through which jobs reach the network.
#[derive(Clone)]
struct Ports {
    relay: Arc<dyn Relay>,
    webhook_sender: Arc<dyn WebhookSender>,
    document_reader: Arc<dyn DocumentReader>,
    app_mail_reader: Arc<dyn AppMailReader>,
    /// Reads hosts' calendars, in a process that can.
    calendar_reader: Option<Arc<dyn CalendarReader>>,
    /// The language model that drafts, if one is configured.
    reply_model: Option<Arc<dyn ReplyModel>>,
    /// Reaches people's browsers, in a process that can.
    push_sender: Option<Arc<dyn PushSender>>,
    /// Which conversations people have open, in a process that serves pages.
    open_pages: Option<Arc<dyn OpenPages>>,
}

/// The jobs that run each due row in a transaction of its own.
static ROW_JOBS: &[&RowJob] = &[
    &end_snoozes::JOB,
    &notices::remind::JOB,
    &notices::remind_secure::JOB,
    &notices::ask_satisfaction::JOB,
    &notices::mail_reports::JOB,
    &notices::bookings::HOLD_JOB,
    &notices::bookings::REMINDER_JOB,
    &notices::bookings::ACT_JOB,
    &run_rules::JOB,
    &miss_targets::JOB,
];

/// How a queue handles its failed jobs. Some queues have two kinds of jobs, told apart by their keys.
fn rule_of(queue: Queue, job: &str) -> Option<&'static JobRule> {
    let of_conversation = job.starts_with("cnv_");
    if let Some(job) = ROW_JOBS.iter().find(|job| job.rule.queue == queue) {
        return Some(&job.rule);
    }
    Some(match queue {
        Queue::Messages => &outgoing::send_messages::RULE,
        Queue::Deliveries => &deliver_webhooks::RULE,
        Queue::SandboxReplies => &outgoing::sandbox_replies::RULE,
        Queue::Notices => &notices::send_notices::RULE,
        Queue::Notifications => &notices::notify_people::RULE,
        Queue::PushMessages => &notices::send_pushes::RULE,
        Queue::AppMail => &fetch_app_mail::RULE,
        Queue::BusyCalendars => &fetch_calendars::RULE,
        Queue::Submissions => &cleaning::upload_cleanup::SUBMISSION_RULE,
        Queue::Uploads => &cleaning::upload_cleanup::UPLOAD_RULE,
        Queue::Documents => &extract_documents::RULE,
        Queue::Drafting => &draft_replies::RULE,
        Queue::Sorting => &sort_conversations::RULE,
        Queue::EventRetention => &cleaning::expire_events::RULE,
        Queue::Trash => &cleaning::empty_trash::RULE,
        Queue::Deletions if of_conversation => &cleaning::erase_deleted::CONVERSATION_RULE,
        Queue::Deletions => &cleaning::erase_deleted::RULE,
        Queue::Retention if of_conversation => &cleaning::retire_conversations::CONVERSATION_RULE,
        Queue::Retention => &cleaning::retire_conversations::RULE,
        Queue::Reports
        | Queue::ReportBackfill
        | Queue::ReportMails
        | Queue::IndexMaintenance
        | Queue::IndexRebuild
        | Queue::Imap
        | Queue::Events
        | Queue::Pages
        | Queue::Installation
        | Queue::Snoozes
        | Queue::Reminders
        | Queue::SecureReminders
        | Queue::Satisfaction
        | Queue::BookingHolds
        | Queue::BookingReminders
        | Queue::BookingActs
        | Queue::Rules
        | Queue::Targets => return None,
    })
}

/// Every background job.
fn all(runtime: &JobRuntime, ports: &Ports) -> Vec<Arc<dyn BackgroundJob>> {
    let runtime = || runtime.clone();
    let Ports {
        relay,
        webhook_sender,
        document_reader,
        app_mail_reader,
        calendar_reader,
        reply_model,
        push_sender,
        open_pages,
    } = ports.clone();
    let calendars = calendar_reader.map(|calendar_reader| -> Arc<dyn BackgroundJob> {
        Arc::new(fetch_calendars::FetchCalendars { runtime: runtime(), calendar_reader })
    });
    let pushes = push_sender.map(|push_sender| -> Arc<dyn BackgroundJob> {
        Arc::new(notices::send_pushes::SendPushes::new(runtime(), push_sender))
    });
    let mut jobs: Vec<Arc<dyn BackgroundJob>> = vec![
        Arc::new(outgoing::send_messages::SendMessages::new(runtime(), relay.clone())),
        Arc::new(deliver_webhooks::DeliverWebhooks::new(runtime(), webhook_sender)),
        Arc::new(outgoing::sandbox_replies::SandboxReplies { runtime: runtime() }),
        Arc::new(notices::notify_people::NotifyPeople { runtime: runtime(), open_pages }),
        Arc::new(notices::send_notices::SendNotices { runtime: runtime(), relay }),
        Arc::new(fetch_app_mail::FetchAppMail { runtime: runtime(), app_mail_reader }),
        Arc::new(cleaning::upload_cleanup::SubmitUploads { runtime: runtime() }),
        Arc::new(cleaning::upload_cleanup::CleanUpUploads { runtime: runtime() }),
        Arc::new(extract_documents::ExtractDocuments::new(runtime(), document_reader)),
        Arc::new(draft_replies::DraftReplies::new(runtime(), reply_model)),
        Arc::new(sort_conversations::SortConversations { runtime: runtime() }),
        Arc::new(count_reports::CountReports { runtime: runtime() }),
        Arc::new(count_reports::BackfillReports { runtime: runtime() }),
        Arc::new(cleaning::expire_events::ExpireEvents { runtime: runtime() }),
        Arc::new(cleaning::index_maintenance::IndexMaintenance { runtime: runtime() }),
        Arc::new(cleaning::rebuild_index::RebuildIndex { runtime: runtime() }),
        Arc::new(cleaning::empty_trash::EmptyTrash { runtime: runtime() }),
        Arc::new(cleaning::erase_deleted::EraseDeleted { runtime: runtime() }),
        Arc::new(cleaning::retire_conversations::RetireConversations { runtime: runtime() }),
    ];
    jobs.extend(
        ROW_JOBS
            .iter()
            .map(|job| -> Arc<dyn BackgroundJob> { Arc::new(RunRows { runtime: runtime(), job }) }),
    );
    jobs.extend(calendars);
    jobs.extend(pushes);
    jobs
}

#[cfg(test)]
mod tests {
    use super::ROW_JOBS;

    #[test]
    fn a_job_that_reaches_outside_rests_for_quiet_workspaces_and_no_other_does() {
        for job in ROW_JOBS {
            let rests = job.rows.due.contains(base::unless_resting!());
            assert_eq!(rests, job.is_outward, "{}", job.rule.queue.as_str());
            assert!(rests || job.rows.due.contains(base::unless_suspended!()), "{}", job.rows.due);
        }
    }
}
