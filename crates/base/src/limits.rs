//! Every limit of the domain, by name and with its unit (API section 8).

pub const NOTE_CHARS: usize = 10_000;
pub const REPLY_CHARS: usize = 50_000;
pub const REPLY_SUMMARY_CHARS: usize = 500;
pub const REQUEST_MESSAGE_CHARS: usize = 5_000;
pub const REQUEST_ITEMS: usize = 20;
pub const ITEM_LABEL_CHARS: usize = 120;
pub const ITEM_DESCRIPTION_CHARS: usize = 500;
/// One file that a customer adds to a request, in bytes.
pub const UPLOAD_BYTES: i64 = 25 * 1024 * 1024;
/// Pieces that one file may come in.
pub const UPLOAD_PIECES: usize = 200;
/// All files of one request, in bytes.
pub const UPLOADS_BYTES: i64 = 200 * 1024 * 1024;
/// Files of one request, those that were refused and not yet forgotten among them.
pub const UPLOADS_PER_REQUEST: i64 = 200;
pub const UPLOAD_NAME_CHARS: usize = 150;
/// Characters of the mark by which a browser recognizes a file.
pub const UPLOAD_MARK_CHARS: usize = 500;
/// A file whose bytes stop coming, and the line about one that was refused, are kept this long.
pub const UPLOAD_LEFT_MS: i64 = DAY_MS;
/// Accepted files count as handed over after this long without the button being pressed.
pub const HAND_OVER_AFTER_MS: i64 = 60 * MINUTE_MS;
/// The upload page stays open this long after everything is in.
pub const UPLOAD_PAGE_MS: i64 = 30 * DAY_MS;
/// When a customer is reminded, counted from when the message that asks left (API section 8).
pub const REMIND_AFTER_MS: [i64; 3] = [2 * DAY_MS, 4 * DAY_MS, 7 * DAY_MS];
/// Invalid upload links that a client network may open within the guessing window.
pub const UNKNOWN_LINKS_PER_NETWORK: i64 = 100;
/// The link by which a person approves a draft from a mail: how long it works, how long its row stays after that to
/// tell what became of the draft, and how long a browser that entered a mailed code may decide.
pub const APPROVAL_LINK_MS: i64 = 2 * HOUR_MS;
pub const APPROVAL_LINK_KEPT_MS: i64 = 30 * DAY_MS;
pub const APPROVAL_PROVEN_MS: i64 = 30 * MINUTE_MS;
/// How long the links under a message of a chat lead to their act.
pub const CHAT_LINK_MS: i64 = 3 * DAY_MS;
/// A session that began within this time decides by such a link without a code.
pub const RECENT_SIGN_IN_MS: i64 = 12 * HOUR_MS;
/// A mailed code: how long it counts, and how many tries it allows.
pub const CODE_MS: i64 = 10 * MINUTE_MS;
pub const CODE_TRIES: i64 = 5;
/// Characters of the field for a code: eight digits, and room for spaces.
pub const CODE_FIELD_CHARS: usize = 11;
/// A time of the day, typed in words.
pub const CLOCK_FIELD_CHARS: usize = 20;
/// Codes that one client network may ask for: of one page within the window and within a day; to one address and
/// altogether within the window.
pub const CODES_WINDOW_MS: i64 = 15 * MINUTE_MS;
pub const CODES_PER_PAGE: i64 = 3;
pub const CODES_PER_PAGE_DAY: i64 = 10;
pub const CODES_PER_ADDRESS: i64 = 10;
pub const CODES_PER_NETWORK: i64 = 30;
/// All client networks together may ask for so many times the codes of a page, or to an address, that one of them may:
/// who asks for codes of somebody else does not keep them from their own.
pub const NETWORKS_ASKING_FOR_CODES: i64 = 4;
/// Wrong codes within a day that lock a page for a day.
pub const WRONG_CODES_PER_DAY: i64 = 20;
/// A browser that has proven an address is signed out after so long without a click, and at the
/// latest after the longer time.
pub const GUEST_SESSION_IDLE_MS: i64 = 30 * MINUTE_MS;
pub const GUEST_SESSION_MS: i64 = 12 * HOUR_MS;
/// Its cookie stays for longer: the form of a page that was open over a weekend is known as ours, and keeps its words.
pub const GUEST_COOKIE_MS: i64 = 4 * DAY_MS;
/// How long a protected page is open, in days: at most, and by default.
pub const SECURE_DAYS_MAX: i64 = 90;
/// A protected message that nobody has opened is recalled once, after so long.
pub const SECURE_REMINDER_MS: i64 = 3 * DAY_MS;
/// Whether a page is read is written down at most this often.
pub const GUEST_SEEN_EVERY_MS: i64 = MINUTE_MS;
/// How long after a conversation was closed its customer is asked how it was.
pub const SATISFACTION_AFTER_MS: i64 = 4 * HOUR_MS;
/// How long after the question was asked it can be answered, and after an answer that can be changed.
pub const SATISFACTION_OPEN_MS: i64 = 30 * DAY_MS;
pub const SATISFACTION_CHANGE_MS: i64 = 7 * DAY_MS;
/// A person is asked once in this time, whatever the conversation.
pub const SATISFACTION_PERSON_MS: i64 = 30 * DAY_MS;
/// A score of so much or less opens the conversation again.
pub const SATISFACTION_NOT_GOOD: i64 = 2;
/// With fewer answers than these, reports say no average of a part.
pub const SATISFACTION_LEAST: i64 = 5;
/// How often one answer can be given anew.
pub const SATISFACTION_CHANGES: i64 = 20;
pub const SATISFACTION_COMMENT_CHARS: usize = 1_000;
/// The sentence that people of a suspended workspace read.
pub const SUSPENSION_REASON_CHARS: usize = 500;
/// Booking types of a workspace.
pub const BOOKING_TYPES: i64 = 50;
pub const BOOKING_TYPE_NAME_CHARS: usize = 80;
pub const BOOKING_SLUG_CHARS: usize = 60;
pub const BOOKING_DESCRIPTION_CHARS: usize = 1_000;
pub const BOOKING_PLACE_CHARS: usize = 300;
/// Questions of a booking type, and characters of a question and of an answer.
pub const BOOKING_QUESTIONS: usize = 5;
pub const BOOKING_QUESTION_CHARS: usize = 200;
pub const BOOKING_ANSWER_CHARS: usize = 1_000;
pub const BOOKING_GUEST_NAME_CHARS: usize = 100;
pub const BOOKING_REASON_CHARS: usize = 500;
/// Minutes of an appointment, of what is kept free on each side of it, and from now to the earliest.
pub const BOOKING_MINUTES_MIN: i64 = 5;
pub const BOOKING_MINUTES: i64 = 720;
pub const BOOKING_BUFFER_MINUTES: i64 = 240;
pub const BOOKING_NOTICE_MINUTES: i64 = 30 * 24 * 60;
/// Hours before the start at which guests can last move or cancel, at most.
pub const BOOKING_CANCEL_HOURS: i64 = 30 * 24;
/// Days into the future that can be booked.
pub const BOOKING_HORIZON_DAYS: i64 = 365;
/// Bookings of a type that a host takes on one day, at most.
pub const BOOKINGS_PER_DAY: i64 = 100;
/// The largest share of a host, compared with the others.
pub const HOST_WEIGHT: i64 = 10;
/// Days that slots may be asked for at once, those that are shown unasked, and slots in one answer.
pub const SLOT_DAYS: i64 = calendar::limits::SLOT_DAYS;
pub const SLOT_DAYS_DEFAULT: i64 = 14;
pub const SLOTS_GIVEN: i64 = calendar::limits::SLOTS_GIVEN as i64;
/// Times that a reply offers, and that a refusal names.
pub const OFFERED_TIMES: usize = 5;
pub const NEXT_TIMES: usize = 3;
/// The link of a reply that offers times works this long.
pub const OFFER_MS: i64 = 30 * DAY_MS;
/// A booking is held this long until the guest proves their address.
pub const BOOKING_HOLD_MS: i64 = 15 * MINUTE_MS;
/// Bookings held for one address within a day by one client network, and for one type at once.
pub const HOLDS_PER_ADDRESS: i64 = 3;
pub const HOLDS_PER_TYPE: i64 = 20;
/// Guests and hosts are reminded so long before an appointment.
pub const BOOKING_REMINDERS_MS: [i64; 2] = [DAY_MS, HOUR_MS];
/// Dates of a host with hours of their own, days off among them, and stays elsewhere.
pub const HOST_DATES: i64 = 400;
pub const HOST_STAYS: i64 = 50;
pub const WEEKLY_HOURS_CHARS: usize = 1_000;
/// Calendars of a host.
pub const BUSY_CALENDARS: i64 = 10;
/// A calendar is read this often.
pub const CALENDAR_EVERY_MS: i64 = 10 * MINUTE_MS;
/// A calendar that was read longer ago is read again before a booking.
pub const CALENDAR_FRESH_MS: i64 = 2 * MINUTE_MS;
/// How long a booking waits for that.
pub const CALENDAR_WAIT_MS: u64 = 3_000;
/// The host is notified when a calendar could not be read for this long.
pub const CALENDAR_WARNING_MS: i64 = HOUR_MS;
/// The host is no longer offered when a calendar could not be read for this long.
pub const CALENDAR_STALE_MS: i64 = DAY_MS;
/// Days of a calendar that are kept: before today, and from then on.
pub const BUSY_DAYS_BEFORE: i64 = 2;
pub const BUSY_DAYS_KEPT: i64 = BOOKING_HORIZON_DAYS + 7;
pub const TAGS_PER_CALL: usize = 10;
pub const TAG_CHARS: usize = 40;
/// Rules of a workspace.
pub const RULES: i64 = 100;
/// Characters of a rule's name, and of a value in it; conditions and acts of one rule.
pub const RULE_NAME_CHARS: usize = 80;
pub const RULE_VALUE_CHARS: usize = 200;
pub const RULE_CONDITIONS: usize = 5;
pub const RULE_ACTS: usize = 4;
/// Characters of office hours as they are typed, of closed days, of the automatic reply and of a target.
pub const OFFICE_HOURS_CHARS: usize = 300;
pub const HOLIDAYS_CHARS: usize = 2_000;
pub const AWAY_REPLY_CHARS: usize = 2_000;
pub const TARGET_CHARS: usize = 20;
/// Topics of a workspace.
pub const TOPICS: i64 = 60;
pub const TOPIC_CHARS: usize = 40;
/// Characters of the words that describe a topic.
pub const TOPIC_WORDS_CHARS: usize = 300;
/// Fields that a workspace adds to contacts and conversations.
pub const FIELDS: i64 = 100;
pub const FIELD_KEY_CHARS: usize = 40;
pub const FIELD_VALUE_CHARS: usize = 500;
/// What a field can be chosen from.
pub const FIELD_CHOICES: usize = 50;
pub const FIELD_CHOICE_CHARS: usize = 60;
/// Fields that are set at once.
pub const FIELDS_SET: usize = 50;
/// How long the app behind the customer panel may take, in milliseconds: to answer, and to do what a button
/// says.
pub const PANEL_WAIT_MS: u64 = 300;
pub const PANEL_PRESS_WAIT_MS: u64 = 5_000;
/// Bytes of its answer, and how deep it is nested.
pub const PANEL_ANSWER_BYTES: usize = 16 * 1024;
pub const PANEL_DEPTH: usize = 6;
pub const PANEL_BLOCKS: usize = 30;
/// Rows and columns of one table.
pub const PANEL_ROWS: usize = 20;
pub const PANEL_COLUMNS: usize = 4;
/// Characters of a text or value, of a label, of a cell, of an address and of a button's id.
pub const PANEL_TEXT_CHARS: usize = 500;
pub const PANEL_LABEL_CHARS: usize = 80;
pub const PANEL_CELL_CHARS: usize = 120;
pub const PANEL_URL_CHARS: usize = 2_000;
pub const PANEL_ID_CHARS: usize = 60;
/// Characters of what the app says to a button, and of its name.
pub const PANEL_MESSAGE_CHARS: usize = 200;
pub const PANEL_NAME_CHARS: usize = 40;
/// Lines of an answer that are shown beside a conversation.
pub const PANEL_LINES_SHOWN: usize = 8;
/// Answers in memory; calls at one time in all, and for one workspace.
pub const PANEL_ANSWERS: usize = 500;
pub const PANEL_CALLS: usize = 64;
pub const PANEL_CALLS_OF_WORKSPACE: usize = 8;
/// Decisions that the sorting helper keeps, for each label and in all; the oldest go first.
pub const EXAMPLES_PER_LABEL: i64 = 300;
pub const EXAMPLES: i64 = 5_000;
/// Examples of the models that one process keeps in memory.
pub const EXAMPLES_IN_MEMORY: usize = 20_000;
/// Tags of which topics are made at once, and conversations of each that become examples, the latest.
pub const TAGS_MADE_TOPICS: usize = 20;
pub const TAGGED_EXAMPLES: i64 = 100;
pub const ASSIGN_TO_CHARS: usize = 80;
/// Conversations that one call changes.
pub const BATCH_CONVERSATIONS: usize = 100;
/// An agent undoes its own acts for this long, and people those of an agent for the longer time.
pub const OWN_UNDO_MS: i64 = DAY_MS;
pub const AGENT_ACTS_KEPT_MS: i64 = 30 * DAY_MS;
/// Steps of an agent's acts that one transaction undoes.
pub const AGENT_STEPS_UNDONE: i64 = 200;
/// Characters of the reason for handing a conversation over, and of whom it goes to.
pub const HANDOVER_REASON_CHARS: usize = 500;
pub const HANDOVER_TO_CHARS: usize = 200;
/// The calls of keys are kept this long.
pub const AGENT_CALLS_KEPT_MS: i64 = 90 * DAY_MS;
/// Characters of the arguments of a call that are kept: of each text, and of all.
pub const CALL_TEXT_CHARS: usize = 200;
pub const CALL_ARGUMENTS_CHARS: usize = 2_000;
/// Calls on one page, and in one file.
pub const CALLS_LISTED: i64 = 100;
pub const CALLS_EXPORTED: i64 = 50_000;
/// Calls that are read at a time to look for words, and how often.
pub const CALLS_READ_AT_ONCE: i64 = 1_000;
pub const CALL_PARTS_READ: usize = 50;
/// Calls that a replay shows, items of a timeline among which it looks, and characters of each.
pub const REPLAYED_CALLS: i64 = 200;
pub const REPLAYED_ITEMS: i64 = 200;
pub const REPLAYED_TEXT_CHARS: usize = 600;
pub const QUERY_CHARS: usize = 200;
pub const LIST_ITEMS: i64 = 100;
pub const LIST_ITEMS_DEFAULT: i64 = 25;
pub const FILTER_CHARS: usize = 200;
pub const OMIT_CHARS: usize = 40;
/// What a person says they look after.
pub const DUTY_CHARS: usize = 120;
pub const REFERENCE_CHARS: usize = 40;

pub const APP_MAIL_RECIPIENTS: usize = 50;
pub const APP_MAIL_TEXT_CHARS: usize = 200_000;
pub const HEADER_CHARS: usize = 998;
pub const ADDRESS_CHARS: usize = 254;
/// Recorded app mail without a reply is deleted after this long.
pub const APP_MAIL_KEPT_MS: i64 = 30 * DAY_MS;
/// Recorded app mail without an answer, per workspace; the oldest go first.
pub const APP_MAIL_KEPT: i64 = 50_000;

/// Messages that two conversations may have together to be merged, and a conversation to be split.
pub const MERGED_MESSAGES: i64 = 1_000;
/// Conversations that become one in one transaction.
pub const MERGED_TOGETHER: usize = 20;
/// Messages that are indexed again where several become one: those of all, once for each that goes over.
pub const MERGED_INDEXED: i64 = 3_000;

pub const SNIPPET_CHARS: usize = 140;
/// The longest snippet that a caller can ask for.
pub const LONG_SNIPPET_CHARS: usize = 300;
/// Conversations of a list that are counted one by one; more are at least so many.
pub const COUNTED_CONVERSATIONS: usize = 10_000;
/// The same beside a page of the list.
pub const COUNTED_BESIDE_PAGE: usize = 1_000;
/// Addresses that one contact may have.
pub const CONTACT_ADDRESSES: usize = 20;
pub const CONTACT_NOTE_CHARS: usize = 2_000;
/// Notes on one contact.
pub const CONTACT_NOTES: i64 = 100;
/// Conversations that one person keeps on top.
pub const PINS: i64 = 50;
/// People who follow one conversation.
pub const FOLLOWERS: i64 = 100;
/// Message text in a read is cut after this many characters.
pub const READ_TEXT_CHARS: usize = 8_000;
/// The whole text of a message, where it is asked for, is cut after this many characters.
pub const ORIGINAL_CHARS: usize = 100_000;
/// Characters of whole texts in one read, bytes of mail that are read for them, and messages that
/// have one; the newest messages come first.
pub const ORIGINALS_CHARS: usize = 1_000_000;
pub const ORIGINALS_RAW_BYTES: i64 = 64 * 1024 * 1024;
pub const ORIGINALS: i64 = 200;
pub const RISK_REASONS: usize = 3;
pub const EVENT_SUMMARY_CHARS: usize = 200;
pub const SUBJECT_CHARS: usize = 998;
/// Characters of a base subject by which mails are compared.
pub const BASE_SUBJECT_CHARS: usize = 200;
/// Bytes of a Message-ID up to which it is its own key.
pub const HEADER_KEY_BYTES: usize = 255;

// The texts of operations and tools are constants, so the limits that they name are macros.

/// The undo window of a message that leaves on its own, in minutes.
#[macro_export]
macro_rules! undo_minutes {
    () => {
        10
    };
}
/// The same in the sandbox, in seconds.
#[macro_export]
macro_rules! undo_sandbox_seconds {
    () => {
        5
    };
}
#[macro_export]
macro_rules! events_kept_days {
    () => {
        30
    };
}
/// The days of [`REMIND_AFTER_MS`], as sentences write them.
#[macro_export]
macro_rules! reminder_days {
    () => {
        "2, 4 and 7"
    };
}
pub use {events_kept_days, reminder_days, undo_minutes, undo_sandbox_seconds};

pub const REMINDER_DAYS: &str = reminder_days!();

pub const UNDO_MINUTES: i64 = undo_minutes!();
pub const UNDO_LIVE_MS: i64 = UNDO_MINUTES * MINUTE_MS;
pub const UNDO_SANDBOX_MS: i64 = undo_sandbox_seconds!() * 1_000;

/// For how many seconds people may choose to be able to stop what they wrote.
pub const UNDO_CHOICES: [i64; 5] = [10, 30, 60, 5 * 60, UNDO_MINUTES * 60];
/// The one that a workspace begins with.
pub const UNDO_PEOPLE_SECONDS: i64 = 30;

/// For how many days a message can wait to leave, and a conversation to come back unanswered.
pub const LATER_DAYS: i64 = 365;
pub const LATER_MS: i64 = LATER_DAYS * DAY_MS;

/// How far back the sender-and-subject rule looks for a conversation to join.
pub const SUBJECT_THREAD_MS: i64 = 30 * DAY_MS;
/// Message-IDs of a mail's ancestors that are looked up.
pub const ANSWERS_LOOKED_UP: usize = 20;

pub const IDEMPOTENCY_KEY_CHARS: usize = 200;
pub const IDEMPOTENCY_KEPT_MS: i64 = DAY_MS;

/// Events, their deliveries and every attempt are kept this long.
pub const EVENTS_KEPT_MS: i64 = events_kept_days!() * DAY_MS;

/// How long a simulated customer takes to answer.
pub const SANDBOX_ANSWERS_AFTER_MS: i64 = 5_000;
/// Simulated mails a minute, across all test keys of a workspace (API section 8).
pub const SANDBOX_INBOUND_PER_MINUTE: u32 = 120;
pub const SANDBOX_TEXT_CHARS: usize = 50_000;

/// Webhooks of a workspace: each event is written once for every webhook that may receive it.
pub const WEBHOOKS: i64 = 100;
/// Names of events in one request, and characters of each.
pub const EVENT_NAMES: usize = 40;
pub const EVENT_NAME_CHARS: usize = 60;
/// After a rotation the old secret of a webhook signs too, for this long.
pub const OLD_SECRET_MS: i64 = DAY_MS;
/// Deliveries on one page of a webhook's log.
pub const LOG_ITEMS: i64 = 50;

/// Characters of a sign-in link's or a session's token.
pub const SIGN_IN_TOKEN_CHARS: usize = 48;
/// A sign-in link that was printed or handed over works this long, once.
pub const SIGN_IN_LINK_MS: i64 = DAY_MS;
/// A session ends when it was not used for this long, and at the latest after the longer time.
pub const SESSION_IDLE_MS: i64 = 30 * DAY_MS;
pub const SESSION_MS: i64 = 180 * DAY_MS;
/// Sessions of one person; the one unused for longest ends first.
pub const SESSIONS_PER_PERSON: i64 = 50;
/// When a session was last used is written down at most this often.
pub const SEEN_EVERY_MS: i64 = 5 * MINUTE_MS;
pub const PASSWORD_CHARS_MIN: usize = 12;
pub const PASSWORD_CHARS: usize = 200;
/// Tries to sign in within the window, for one address and from one place.
pub const SIGN_IN_WINDOW_MS: i64 = 15 * MINUTE_MS;
pub const SIGN_IN_WAIT_MINUTES: i64 = SIGN_IN_WINDOW_MS / MINUTE_MS;
pub const SIGN_IN_ATTEMPTS_PER_ADDRESS: i64 = 10;
pub const SIGN_IN_ATTEMPTS_PER_NETWORK: i64 = 100;
/// A sign-in link that was e-mailed works this long, once.
pub const MAILED_LINK_MS: i64 = HOUR_MS;
/// Sign-in links that are mailed within the window, to one address and for one place.
pub const LINKS_PER_ADDRESS: i64 = 3;
pub const LINKS_PER_NETWORK: i64 = 20;
/// A sign-in that waits for its second step must be finished by then.
pub const SIGN_IN_STEP_MS: i64 = 10 * MINUTE_MS;
/// The challenge of a passkey counts this long, once.
pub const PASSKEY_CHALLENGE_MS: i64 = 5 * MINUTE_MS;
/// Sign-ins by passkey that one client network may begin within the window.
pub const SIGN_IN_STEPS_PER_NETWORK: i64 = 200;
/// What somebody typed before their session ended waits this long for them to sign in.
pub const INTERRUPTED_FORM_MS: i64 = 60 * MINUTE_MS;
/// Such forms that one client network leaves in the window of sign-in attempts.
pub const INTERRUPTED_FORMS_PER_NETWORK: i64 = 30;
/// Codes of a second step that one person may try within the window.
pub const SECOND_STEP_TRIES: i64 = 5;
pub const RECOVERY_CODES: usize = 10;
/// Characters of the field for a code of an app or a recovery code, with room for spaces.
pub const SECOND_STEP_FIELD_CHARS: usize = 20;
pub const PASSKEYS_PER_PERSON: i64 = 20;
pub const PASSKEY_NAME_CHARS: usize = 60;
/// An OAuth code works this long, once.
pub const OAUTH_CODE_MS: i64 = MINUTE_MS;
/// An access token works this long.
pub const ACCESS_TOKEN_MS: i64 = HOUR_MS;
/// A refresh token ends when it was not used for this long, and at the latest after the longer time.
pub const REFRESH_TOKEN_IDLE_MS: i64 = 90 * DAY_MS;
pub const REFRESH_TOKEN_MS: i64 = 365 * DAY_MS;
/// For this long a replaced refresh token gives the same successor again: several processes of one
/// program may share it.
pub const REFRESH_GRACE_MS: i64 = 2 * MINUTE_MS;
/// Access tokens of one app that work at one time; the oldest ends first.
pub const ACCESS_TOKENS_PER_APP: i64 = 250;
/// Refresh tokens of one app that are kept, the replaced ones included.
pub const REFRESH_TOKENS_PER_APP: i64 = 200;
/// Refreshes of one app within the window of sign-in attempts.
pub const REFRESHES_PER_APP: i64 = 60;
/// A client that registered itself is forgotten if nobody lets it in for this long.
pub const UNUSED_CLIENT_MS: i64 = 90 * DAY_MS;
/// A used code is known for this long, so that a second use is noticed.
pub const OAUTH_CODE_KEPT_MS: i64 = DAY_MS;
/// Clients that registered themselves and that nobody has let in yet.
pub const UNUSED_CLIENTS: i64 = 1_000;
/// Registrations from one network within the window of sign-in attempts.
pub const REGISTRATIONS_PER_NETWORK: i64 = 10;
/// Documents about clients that are fetched for one person within that window.
pub const DOCUMENTS_PER_PERSON: i64 = 20;
/// What a client says about itself is fetched again after this long.
pub const CLIENT_DOCUMENT_MS: i64 = HOUR_MS;
pub const CLIENT_NAME_CHARS: usize = 60;
pub const REDIRECT_URIS_PER_CLIENT: usize = 20;
/// Letters of a language: its code of two letters.
pub const LANGUAGE_CHARS: usize = 2;
/// Workspaces that one e-mail address is looked for in when signing in.
pub const WORKSPACES_PER_ADDRESS: i64 = 20;
pub const DEVICE_CHARS: usize = 120;
pub const DISCARD_REASON_CHARS: usize = 500;
/// Recipients of one message, To, Cc and Bcc each.
pub const RECIPIENTS: usize = 20;
/// Attachments of one message, and their total size: written as mail they stay below the 25 MB that
/// most servers take.
pub const ATTACHMENTS: usize = 20;
pub const ATTACHED_BYTES: i64 = 15 * 1024 * 1024;
/// Notices that a person gets in a minute; further ones come together.
pub const NOTICES_PER_MINUTE: i64 = 10;
/// What goes beyond that comes together after this long.
pub const NOTICES_TOGETHER_MS: i64 = 10 * MINUTE_MS;
/// A second mail about the same thing in the same conversation comes so long after the first.
pub const NOTICE_MAIL_AGAIN_MS: i64 = 10 * MINUTE_MS;
/// New mail is told of so long after it arrived, so that rules have acted on it.
pub const NOTICE_SETTLES_MS: i64 = 5_000;
/// Mail that is filed later than this is not told of.
pub const NOTICE_RECENT_MS: i64 = DAY_MS;
/// A push service keeps a message for a browser that is not reached, and a failed one is retried, for this
/// long.
pub const PUSH_TTL_MS: i64 = 4 * HOUR_MS;
/// Senders whose remote pictures one person always sees.
pub const PICTURE_SENDERS: i64 = 1_000;
pub const SIGNATURE_CHARS: usize = 2_000;
pub const SAVED_REPLIES: i64 = 200;
pub const SAVED_REPLY_CHARS: usize = 10_000;
pub const SAVED_REPLY_NAME_CHARS: usize = 80;

/// Answers of a workspace, the retired ones among them.
pub const ANSWERS: i64 = 2_000;
pub const ANSWER_TITLE_CHARS: usize = 120;
pub const ANSWER_CHARS: usize = 10_000;
/// Bytes of a file of answers.
pub const ANSWER_FILE_BYTES: usize = 2 * 1024 * 1024;
/// An answer that was neither used nor changed for this long is listed as stale.
pub const ANSWER_STALE_MS: i64 = 180 * DAY_MS;
/// Versions of an answer that are kept, and how many of them its page lists.
pub const ANSWER_VERSIONS: i64 = 100;
pub const ANSWER_SECTION_CHARS: usize = 60;
/// Characters of the address of a help page, and how often a number is tried behind one that is taken.
pub const HELP_SLUG_CHARS: usize = 80;
pub const HELP_SLUG_TRIES: usize = 100;
/// Bytes of the words of a help page as HTML, so that the whole page has at most 50 KB.
pub const HELP_PAGE_BYTES: usize = 36 * 1024;
/// Different words of a help page that it is found by, and words of a search.
pub const HELP_PAGE_WORDS: usize = 1_000;
pub const HELP_QUERY_TERMS: usize = 8;
/// Characters of a search in help pages, and pages that it finds.
pub const HELP_QUERY_CHARS: usize = 200;
pub const HELP_HITS: usize = 20;
/// Languages of a workspace's help pages, and answers of a section on the first page and on its own.
pub const HELP_LANGUAGES: i64 = 20;
pub const HELP_SECTION_SHOWN: usize = 3;
pub const HELP_SECTION_PAGES: i64 = 200;
/// Sections on the first page of help pages.
pub const HELP_SECTIONS_SHOWN: usize = 60;
/// Pages that one leads to, and pages of the feed.
pub const HELP_RELATED: i64 = 4;
pub const HELP_NEWEST: i64 = 30;
/// Readers of a workspace's help pages who are counted in a day for whether a page helped.
pub const HELP_VOTES_A_DAY: i64 = 5_000;
/// Requests of one client network for help pages in a minute, those that search counted more.
pub const HELP_READS_A_MINUTE: u32 = 240;
/// Answers that the drafting helper offers when it is not sure enough to draft.
pub const ANSWERS_OFFERED: usize = 3;
/// Conversations listed as answered before.
pub const ANSWERED_BEFORE: usize = 3;
/// Drafts of the helper over which its success is measured, and the share of them, in hundredths, that
/// has to be approved as it was.
pub const DRAFTS_MEASURED: i64 = 50;
pub const DRAFTS_AS_THEY_WERE: i64 = 20;
/// The days over which the settings show what became of drafts.
pub const OUTCOME_DAYS: i64 = 28;
/// Most calls of the language model that an inbox may be allowed a day.
pub const MODEL_CALLS_A_DAY: i64 = 100_000;
/// Failures of the language model in a row after which it is left alone, and for how long.
pub const MODEL_FAILURES: i64 = 5;
pub const MODEL_REST_MS: i64 = 15 * MINUTE_MS;

/// Characters of the token in the address that a sending service calls.
pub const SERVICE_TOKEN_CHARS: usize = 32;
/// Connections to sending services, per workspace.
pub const SERVICES: i64 = 20;

/// Inboxes that one process fetches mail for at the same time.
pub const FETCHING_AT_ONCE: usize = 1_000;
/// The largest mail that is fetched, in bytes; a larger one stays where it is.
pub const FETCHED_MAIL_BYTES: u32 = 50 * 1024 * 1024;
/// The lease of an IMAP account. The process that fetches renews it; after it expires another
/// process may claim the account, so fetching pauses this long after a process was killed.
pub const FETCHING_LEASE_MS: i64 = MINUTE_MS;
/// Owners get a notice when fetching has failed for this long.
pub const FETCHING_FAILED_MS: i64 = 60 * MINUTE_MS;
/// The same for an outgoing server that mail waits for.
pub const SENDING_FAILED_MS: i64 = 60 * MINUTE_MS;
/// An inbox that has been due for this long is not being fetched by any process.
pub const FETCHING_OVERDUE_MS: i64 = 5 * MINUTE_MS;
/// A test mail to an address with a plus tag that has not come back by then does not arrive.
pub const PLUS_TAG_TEST_MS: i64 = 30 * MINUTE_MS;
/// Tries to have one mail before it is passed over.
pub const FETCH_ATTEMPTS: i64 = 5;
/// Characters of a host, user, folder or password.
pub const IMAP_WORD_CHARS: usize = 255;
/// Digits of a port.
pub const PORT_CHARS: usize = 5;
/// Characters of the name under which an app gives its reference to a sending service.
pub const REFERENCE_TAG_CHARS: usize = 80;

/// Bytes of a file that is read; a larger one is kept and shown, and nothing is made of it.
pub const DOCUMENT_READ_BYTES: i64 = 32 * 1024 * 1024;
/// Characters of a document's text that are kept, indexed and answered.
pub const DOCUMENT_TEXT_CHARS: usize = 50_000;
/// Characters of a vendor or reference that was read in a document or written by a person.
pub const DOCUMENT_FIELD_CHARS: usize = 200;
/// The largest absolute amount of a document.
pub const DOCUMENT_AMOUNT: f64 = 999_999_999_999.99;

pub const PERSON_NAME_CHARS: usize = 100;
/// People and keys that the first steps of a workspace count up to.
pub const FIRST_STEPS_COUNTED: i64 = 100;
pub const WEBHOOK_URL_CHARS: usize = 2_000;

pub const RATE_WINDOW_MS: i64 = MINUTE_MS;
pub const RATE_PER_MINUTE: u32 = 120;

pub const MINUTE_MS: i64 = 60_000;
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// A number as sentences write it: `50,000`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let head = digits.len() % 3;
    let (first, rest) = digits.split_at(head);
    let groups = rest.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let first = (!first.is_empty()).then(|| first.to_owned());
    first.into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

/// Bytes as sentences write them, in MB.
pub const fn megabytes(bytes: i64) -> i64 {
    bytes / (1024 * 1024)
}

/// A time as sentences write it: `a day`, `30 days`, `an hour`, `15 minutes`.
/// Customers read it.
pub fn duration(ms: i64) -> String {
    match (ms / DAY_MS, ms / HOUR_MS, ms / MINUTE_MS) {
        (1, 24, _) => "a day".into(),
        (days, hours, _) if days > 0 && hours % 24 == 0 => format!("{days} days"),
        (0, 1, 60) => "an hour".into(),
        (_, hours, minutes) if hours > 0 && minutes % 60 == 0 => format!("{hours} hours"),
        (_, _, 1) => "a minute".into(),
        (_, _, minutes) => format!("{minutes} minutes"),
    }
}

/// How long what was deleted can be restored.
pub const TRASH_MS: i64 = TRASH_DAYS * DAY_MS;
pub const TRASH_DAYS: i64 = 30;
/// Conversations that one act of a person changes at the most.
pub const TRIAGED: usize = 1_000;
/// How long an act can be undone.
pub const UNDO_ACT_MS: i64 = 10 * MINUTE_MS;
/// Test cases of a workspace, and the runs that are kept.
pub const EVAL_CASES: i64 = 500;
pub const EVAL_RUNS: i64 = 50;
/// Bytes of the definition of a test case, and characters of its name.
pub const EVAL_CASE_BYTES: usize = 100_000;
pub const EVAL_NAME_CHARS: usize = 60;
/// Mails, steps and checks of a test case.
pub const EVAL_MAILS: usize = 10;
pub const EVAL_STEPS: usize = 30;
pub const EVAL_CHECKS: usize = 50;
/// Messages, notes and calls that a test case looks at.
pub const EVAL_MESSAGES: i64 = 50;
pub const EVAL_CALLS: i64 = 500;
/// Characters of a question that a model judges by, and bytes of what counts as a token.
pub const EVAL_QUESTION_CHARS: usize = 300;
pub const EVAL_TOKEN_BYTES: i64 = 4;
/// How often an agent at a webhook is asked for more calls after one mail.
pub const EVAL_ROUNDS: usize = 10;
/// A run that has not ended by then was interrupted.
pub const EVAL_RUN_MS: i64 = 30 * MINUTE_MS;
/// Saved searches of the team, and of one person.
pub const SAVED_VIEWS: i64 = 30;
pub const VIEW_NAME_CHARS: usize = 40;

/// Inboxes for some that a workspace can have: each is a list of its own in every view of those who
/// see it.
pub const RESTRICTED_INBOXES: i64 = 30;

/// Holders that one inbox can be given to: people, teams and agents.
pub const ACCESS_HOLDERS: usize = 200;

/// Conversations of an inbox that the app opens or closes at once; the command line takes any number.
pub const ACCESS_MOVED: i64 = 100_000;

/// Teams of a workspace.
pub const TEAMS: i64 = 100;

/// Characters of a team's name.
pub const TEAM_NAME_CHARS: usize = 60;

/// Conversations on one page of the resources of MCP, and characters of a title there.
pub const RESOURCES_LISTED: i64 = 50;
pub const RESOURCE_TITLE_CHARS: usize = 120;

/// Values that a completion of MCP gives at most.
pub const COMPLETIONS: usize = 100;

/// Conversations that the prompt for sorting asks for unless it is told how many.
pub const SORTED_BY_PROMPT: i64 = 10;
/// Bytes of a workspace's logo, which travels with each mail, and pixels of its width and height.
pub const LOGO_BYTES: usize = 100 * 1024;
pub const LOGO_LEAST_PX: u32 = 32;
pub const LOGO_MOST_PX: u32 = 1_200;
/// Characters of a colour, with what people type around it.
pub const COLOUR_CHARS: usize = 20;
/// Contact forms of a workspace.
pub const CONTACT_FORMS: i64 = 50;
pub const FORM_SLUG_CHARS: usize = 60;
pub const FORM_TITLE_CHARS: usize = 100;
pub const FORM_INTRO_CHARS: usize = 1_000;
pub const FORM_THANKS_CHARS: usize = 500;
/// Fields of a form beside name, address and message.
pub const FORM_FIELDS: usize = 10;
pub const FORM_KEY_CHARS: usize = 40;
pub const FORM_LABEL_CHARS: usize = 200;
/// What a field can be chosen from, and characters of one choice.
pub const FORM_CHOICES: usize = 20;
pub const FORM_CHOICE_CHARS: usize = 100;
/// What is typed into a form: a name, a line, a long text and the message.
pub const FORM_NAME_CHARS: usize = 100;
pub const FORM_LINE_CHARS: usize = 200;
pub const FORM_TEXT_CHARS: usize = 2_000;
pub const FORM_MESSAGE_CHARS: usize = 10_000;
/// Characters of the address of the page that a form was opened from.
pub const FORM_PAGE_CHARS: usize = 500;
/// A form can be sent for so long after its page was made; what is sent earlier than the shorter time is held.
pub const FORM_OPEN_MS: i64 = DAY_MS;
pub const FORM_LEAST_MS: i64 = 2_000;
/// What has more links than this is held.
pub const FORM_LINKS: usize = 3;
/// Posts within the time that attempts to sign in are counted for: those of one client network beyond this
/// have to wait, those by one form beyond this are held.
pub const FORM_POSTS_PER_NETWORK: i64 = 20;
pub const FORM_POSTS_PER_FORM: i64 = 60;
/// Codes that the forms of a workspace mail to one address within a day for one client network: whoever types an address
/// need not have it.
pub const FORM_CODES_PER_ADDRESS_DAY: i64 = 5;
/// Posts of a form from addresses that nobody has proven which may wait without a mark, beside one for each that was
/// answered; so many of the latest are looked at, over this time.
pub const FORM_STRANGERS: i64 = 5;
pub const FORM_STRANGERS_READ: i64 = 500;
pub const FORM_STRANGERS_MS: i64 = 30 * DAY_MS;
/// Sites that may show a form in a frame, and characters of one.
pub const FORM_SITES: usize = 20;
pub const FORM_SITE_CHARS: usize = 200;
/// What customers see on the page of their own: conversations, messages of one, times, and bytes of the files in a
/// download of all of it, and of the texts beside them.
pub const OWN_CONVERSATIONS: i64 = 100;
pub const OWN_MESSAGES: i64 = 200;
pub const OWN_BOOKINGS: i64 = 20;
pub const OWN_DATA_BYTES: i64 = 50 * 1024 * 1024;
/// Languages of a form beside the one that it is written in, and characters of all their texts.
pub const FORM_LANGUAGES: usize = 10;
pub const FORM_TEXTS_CHARS: usize = 20_000;
/// Items of issue trackers that a conversation is linked to, those that are read of one (a merge may bring more), and
/// characters of an address and a title.
pub const LINKS: i64 = 20;
pub const LINKS_READ: i64 = 100;
pub const LINK_URL_CHARS: usize = 500;
pub const LINK_TITLE_CHARS: usize = 300;
/// Conversations that are told when an item closes.
pub const LINKED_CONVERSATIONS: i64 = 200;
/// Calls in a minute of all issue trackers of a workspace; characters of a secret for them, and of one made elsewhere.
pub const TRACKER_CALLS_PER_MINUTE: u32 = 300;
pub const TRACKER_TOKEN_CHARS: usize = 32;
pub const TRACKER_SECRET_CHARS: usize = 40;
pub const TRACKER_SECRET_CHARS_LEAST: usize = 16;
pub const TRACKER_SECRET_CHARS_MOST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_in_sentences_are_easy_to_read() {
        assert_eq!(
            [999, 1_000, 50_000, 1_234_567].map(thousands),
            ["999", "1,000", "50,000", "1,234,567"]
        );
        assert_eq!(megabytes(UPLOAD_BYTES), 25);
        let times = [MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 90 * MINUTE_MS, 2 * HOUR_MS, DAY_MS];
        assert_eq!(
            times.map(duration),
            ["a minute", "15 minutes", "an hour", "90 minutes", "2 hours", "a day"]
        );
        assert_eq!(duration(30 * DAY_MS), "30 days");
        let [first, second, third] = REMIND_AFTER_MS.map(|after| after / DAY_MS);
        assert_eq!(REMINDER_DAYS, format!("{first}, {second} and {third}"));
    }
}
