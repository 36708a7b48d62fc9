//! Background jobs, with the time that the test lets pass.

mod deliver_webhooks;
mod draft_replies;
mod extract_documents;
mod failures;
mod fairness;
mod learned_mail;
mod learning_circles;
mod mail_reports;
mod outgoing_servers;
mod queues;
mod quiet;
mod send_notices;
mod send_pushes;
mod sent_html;
mod sort_conversations;
mod worker;
