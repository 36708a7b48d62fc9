//! The queues whose listeners a transaction wakes when it commits.

use crate::string_enum::string_enum;

string_enum! {
    /// A queue by its name: for [`db::Tx::wake`], in `job_failures`, and as a label of metrics.
    Queue {
        Messages = "messages",
        Deliveries = "deliveries",
        SandboxReplies = "sandbox answers",
        Snoozes = "snoozes",
        Notices = "notices",
        Notifications = "notifications",
        PushMessages = "push messages",
        AppMail = "app mail words",
        Reminders = "reminders",
        SecureReminders = "secure reminders",
        Satisfaction = "satisfaction",
        BookingHolds = "booking holds",
        BookingReminders = "booking reminders",
        BookingActs = "booking acts",
        BusyCalendars = "busy calendars",
        Submissions = "handing over",
        Uploads = "uploads",
        Documents = "documents",
        Drafting = "drafting",
        Sorting = "sorting",
        Rules = "rules",
        Targets = "targets",
        Reports = "reports",
        ReportBackfill = "report backfill",
        ReportMails = "report mails",
        EventRetention = "retention",
        IndexMaintenance = "upkeep",
        IndexRebuild = "index rebuild",
        Trash = "trash",
        Deletions = "deletions",
        Retention = "conversation retention",
        Imap = "imap",
        Events = "events",
        Pages = "pages",
        Installation = "installation",
    }
}

impl db::QueueName for Queue {
    fn queue_name(&self) -> &'static str {
        self.as_str()
    }
}
