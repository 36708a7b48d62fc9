//! The report by mail: when it is due, who gets it, and what it says.

mod mail_html;
mod mail_parts;
mod mail_text;
mod report_mail;
mod schedule;

pub use report_mail::{ReportMail, report_mail};
pub use schedule::{
    ReportNowOutcome, ReportPace, ReportPeriod, ReportSchedule, choose_schedule, load_schedule,
    mail_due, mail_now, recipients, set_recipients, skip_due,
};
