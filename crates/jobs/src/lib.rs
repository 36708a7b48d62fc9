//! Background jobs: one file each, and the worker that runs them. One failing job does not affect
//! the others: see `failures`.

mod app_mail_reader;
mod bookings;
mod calendar_reader;
mod concurrency;
mod count_reports;
mod counters;
mod deliver_webhooks;
mod document_reader;
mod draft_replies;
mod empty_trash;
mod end_snoozes;
mod erase_deleted;
mod expire_events;
mod extract_documents;
mod failures;
mod fair_share;
mod fetch_app_mail;
mod fetch_calendars;
mod index_maintenance;
mod lease;
mod message_body;
mod miss_targets;
mod notify_people;
mod open_pages;
mod outgoing_mail;
mod plus_tag_test;
mod push_sender;
pub mod queues;
mod quiet;
mod rebuild_index;
mod recipient_outcomes;
mod relay;
mod remind;
mod remind_secure;
mod reply_model;
mod retire_conversations;
mod run_rules;
mod runtime;
mod sandbox_replies;
mod secure_mail;
mod send_messages;
mod send_notices;
mod send_pushes;
mod sending_lanes;
mod sort_conversations;
mod test_mail;
mod upload_cleanup;
mod webhook_sender;
mod worker;

use std::sync::Arc;

use base::queue::Queue;

use failures::JobRule;
use runtime::{BackgroundJob, JobRuntime};

pub use app_mail_reader::{AppMailBody, AppMailReader, AppMailRequest};
pub use base::future::BoxFuture;
pub use calendar_reader::CalendarReader;
pub use counters::start_counters;
pub use deliver_webhooks::RETRIES_MS as DELIVERY_RETRIES_MS;
pub use document_reader::{DocumentFile, DocumentReader, ExtractionOutcome};
pub use erase_deleted::{DeletionOutcome, finish_deletion, finish_deletions};
pub use open_pages::OpenPages;
pub use outgoing_mail::sent_copy;
pub use plus_tag_test::send_plus_tag_test;
pub use push_sender::{PushRequest, PushResponse, PushSender};
pub use relay::{OutgoingMail, Relay, RelayOutcome, RelayReason};
pub use reply_model::{ModelReply, ReplyModel};
pub use test_mail::{TestMail, send_test_mail};
pub use webhook_sender::{WebhookRequest, WebhookResponse, WebhookSender};
pub use worker::Worker;

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

/// How a queue handles its failed jobs. Some queues have two kinds of jobs, told apart by their keys.
fn rule_of(queue: Queue, job: &str) -> Option<&'static JobRule> {
    let of_conversation = job.starts_with("cnv_");
    Some(match queue {
        Queue::Messages => &send_messages::RULE,
        Queue::Deliveries => &deliver_webhooks::RULE,
        Queue::SandboxReplies => &sandbox_replies::RULE,
        Queue::Snoozes => &end_snoozes::RULE,
        Queue::Notices => &send_notices::RULE,
        Queue::Notifications => &notify_people::RULE,
        Queue::PushMessages => &send_pushes::RULE,
        Queue::AppMail => &fetch_app_mail::RULE,
        Queue::Reminders => &remind::RULE,
        Queue::SecureReminders => &remind_secure::RULE,
        Queue::BookingHolds => &bookings::HOLD_RULE,
        Queue::BookingReminders => &bookings::REMINDER_RULE,
        Queue::BusyCalendars => &fetch_calendars::RULE,
        Queue::Submissions => &upload_cleanup::SUBMISSION_RULE,
        Queue::Uploads => &upload_cleanup::UPLOAD_RULE,
        Queue::Documents => &extract_documents::RULE,
        Queue::Drafting => &draft_replies::RULE,
        Queue::Sorting => &sort_conversations::RULE,
        Queue::Rules => &run_rules::RULE,
        Queue::Targets => &miss_targets::RULE,
        Queue::EventRetention => &expire_events::RULE,
        Queue::Trash => &empty_trash::RULE,
        Queue::Deletions if of_conversation => &erase_deleted::CONVERSATION_RULE,
        Queue::Deletions => &erase_deleted::RULE,
        Queue::Retention if of_conversation => &retire_conversations::CONVERSATION_RULE,
        Queue::Retention => &retire_conversations::RULE,
        Queue::Reports
        | Queue::ReportBackfill
        | Queue::IndexMaintenance
        | Queue::IndexRebuild
        | Queue::Imap
        | Queue::Events
        | Queue::Pages
        | Queue::Installation => return None,
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
        Arc::new(send_pushes::SendPushes::new(runtime(), push_sender))
    });
    let mut jobs: Vec<Arc<dyn BackgroundJob>> = vec![
        Arc::new(send_messages::SendMessages::new(runtime(), relay.clone())),
        Arc::new(deliver_webhooks::DeliverWebhooks::new(runtime(), webhook_sender)),
        Arc::new(sandbox_replies::SandboxReplies { runtime: runtime() }),
        Arc::new(end_snoozes::EndSnoozes { runtime: runtime() }),
        Arc::new(notify_people::NotifyPeople { runtime: runtime(), open_pages }),
        Arc::new(send_notices::SendNotices { runtime: runtime(), relay }),
        Arc::new(fetch_app_mail::FetchAppMail { runtime: runtime(), app_mail_reader }),
        Arc::new(remind::Remind { runtime: runtime() }),
        Arc::new(remind_secure::RemindSecure { runtime: runtime() }),
        Arc::new(bookings::EndHolds { runtime: runtime() }),
        Arc::new(bookings::RemindOfBookings { runtime: runtime() }),
        Arc::new(upload_cleanup::SubmitUploads { runtime: runtime() }),
        Arc::new(upload_cleanup::CleanUpUploads { runtime: runtime() }),
        Arc::new(extract_documents::ExtractDocuments::new(runtime(), document_reader)),
        Arc::new(draft_replies::DraftReplies::new(runtime(), reply_model)),
        Arc::new(sort_conversations::SortConversations { runtime: runtime() }),
        Arc::new(run_rules::RunRules { runtime: runtime() }),
        Arc::new(miss_targets::MissTargets { runtime: runtime() }),
        Arc::new(count_reports::CountReports { runtime: runtime() }),
        Arc::new(count_reports::BackfillReports { runtime: runtime() }),
        Arc::new(expire_events::ExpireEvents { runtime: runtime() }),
        Arc::new(index_maintenance::IndexMaintenance { runtime: runtime() }),
        Arc::new(rebuild_index::RebuildIndex { runtime: runtime() }),
        Arc::new(empty_trash::EmptyTrash { runtime: runtime() }),
        Arc::new(erase_deleted::EraseDeleted { runtime: runtime() }),
        Arc::new(retire_conversations::RetireConversations { runtime: runtime() }),
    ];
    jobs.extend(calendars);
    jobs.extend(pushes);
    jobs
}
