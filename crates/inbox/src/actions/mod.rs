//! What people do in the app and at the command line: approve and stop what agents write, snooze,
//! and look after keys, people, inboxes and webhooks.

mod approvals;
mod audit_log;
mod compose;
mod corrections;
mod delivery_log;
mod document_requests;
mod drafts;
mod files;
mod imap_accounts;
mod keys;
mod library;
mod mentions;
mod open_conversation;
mod removal;
mod roles;
mod saved_replies;
mod services;
mod sessions;
mod setup;
mod sidebar;
mod snooze;
mod tags;
mod timeline;
mod webhooks;

pub use approvals::{
    Decision, QueuedDraft, ScheduledMessage, leaving, look_at_draft, queue, under_way,
};
pub use audit_log::{AUDIT_LISTED, AuditEntry, list_audit};
pub use compose::{
    Autosave, AutosaveKind, NewReply, attach, attached, autosave, discard_autosave,
    forget_autosave, newer_than, parties, send_reply, take_out,
};
pub use corrections::correct_document;
pub use delivery_log::{
    DeliveryState, LogFilter, LoggedAttempt, LoggedDelivery, delete_webhook, delivery_log,
    latest_deliveries, pause_webhook, redeliver, resume_webhook, rotate_secret, send_test_event,
};
pub use document_requests::{
    RequestCard, RequestItem, RequestState, close_request, conversation_of, reopen_request,
    revoke_request,
};
pub use drafts::{address_draft, approve_draft, discard_draft, edit_draft, stop_message};
pub use files::{StoredFile, attachment, file, original};
pub use imap_accounts::{FetchFrom, FetchedInbox, fetch_mail_from, list_fetched, stop_fetching};
pub use keys::{KeyListing, MadeKey, list_keys, make_key, revoke_key};
pub use library::{LibraryCard, LibraryDocument, cards, look_at_document};
pub use mentions::{
    MENTIONS_LISTED, Mention, is_mentioned, list_mentions, read_mentions, want_mention_mail,
    wants_mention_mail,
};
pub use open_conversation::{
    OpenConversation, OtherConversation, latest_of, mark_read, read_conversation,
};
pub use removal::remove_person;
pub use roles::set_role;
pub use saved_replies::{
    PLACEHOLDERS, SavedReply, change_saved_reply, delete_saved_reply, fill_saved_reply,
    list_saved_replies, save_reply, saved_reply_names,
};
pub use services::{
    NewService, ServiceListing, connect_service, disconnect_service, list_services, service_path,
    set_service_secret,
};
pub use sessions::{
    SessionListing, SignedIn, StoredPassword, TokenHash, begin_session, count_sign_in_attempt,
    end_other_sessions, end_session, forget_sign_in_attempts, has_password, invite, list_sessions,
    look_at_link, mail_sign_in_link, make_recovery_link, make_sign_in_link, mark_seen,
    open_private, set_password, signed_in, stored_passwords, use_sign_in_link,
};
pub use setup::{
    CreatedWorkspace, NewWorkspace, PersonListing, WorkspaceListing, add_mailbox, add_person,
    list_people, list_workspaces, mailbox_at, rename_mailbox, set_plan, set_plus_tags,
    set_up_workspace,
};
pub use sidebar::{
    COUNTED, Sidebar, SidebarInbox, SidebarTag, list_held, list_tagged, sidebar, tag_name, unread,
};
pub use snooze::{release_held, snooze};
pub use tags::rename_tag;
pub use timeline::{EventEntry, FilePlace, FiledAs, MessageEntry, NoteEntry, TimelineEntry};
pub use webhooks::{
    MadeWebhook, WebhookDetail, WebhookListing, add_webhook, check_url, list_webhooks,
    look_at_webhook,
};
