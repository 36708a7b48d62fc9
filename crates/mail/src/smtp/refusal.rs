//! All refusing replies, with their codes for logs and metrics.

/// A refusal: the reply, and the reason as a fixed code for logs and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmtpRefusal {
    pub reason: &'static str,
    /// The whole reply, without its line end.
    pub line: &'static str,
}

const fn refusal(reason: &'static str, line: &'static str) -> SmtpRefusal {
    SmtpRefusal { reason, line }
}

pub(super) const UNKNOWN: SmtpRefusal =
    refusal("unknown-command", "500 5.5.1 There is no such command.");
pub(super) const SYNTAX: SmtpRefusal =
    refusal("syntax", "501 5.5.4 The command is not written as it should be.");
pub(super) const BAD_SENDER: SmtpRefusal =
    refusal("bad-sender", "501 5.1.7 The sender must be written as <name@domain> or <>.");
pub(super) const BAD_RECIPIENT: SmtpRefusal =
    refusal("bad-recipient", "501 5.1.3 The recipient must be written as <name@domain>.");
pub(super) const PARAMETER: SmtpRefusal =
    refusal("unknown-parameter", "555 5.5.4 There is no such parameter.");
/// Ends a session with a client that speaks another protocol, such as HTTP.
pub(super) const NOT_MAIL: SmtpRefusal = refusal("not-mail", "421 4.7.0 This is a mail server.");
pub(super) const LONG_LINE: SmtpRefusal = refusal("long-line", "500 5.5.2 The line is too long.");
pub(super) const BARE_COMMAND_END: SmtpRefusal =
    refusal("bare-line-end", "500 5.5.2 A line must end with CR LF.");
pub(super) const OTHER_PROTOCOL: SmtpRefusal =
    refusal("other-protocol", "500 5.5.1 This greeting belongs to another protocol.");

pub(super) const GREET_FIRST: SmtpRefusal =
    refusal("bad-sequence", "503 5.5.1 Send HELO, EHLO or LHLO first.");
pub(super) const MAIL_FIRST: SmtpRefusal =
    refusal("bad-sequence", "503 5.5.1 Send MAIL FROM first.");
pub(super) const RECIPIENT_FIRST: SmtpRefusal =
    refusal("bad-sequence", "503 5.5.1 Send RCPT TO first.");
pub(super) const CHUNKS_BEGAN: SmtpRefusal =
    refusal("bad-sequence", "503 5.5.1 The mail began with BDAT.");
pub(super) const MAIL_UNDER_WAY: SmtpRefusal =
    refusal("bad-sequence", "503 5.5.1 A mail transaction is already open.");
pub(super) const NO_ENCRYPTION: SmtpRefusal =
    refusal("bad-sequence", "503 5.5.1 STARTTLS is not available.");

pub(super) const NO_INBOX: SmtpRefusal =
    refusal("no-such-inbox", "550 5.1.1 There is no such inbox here.");
pub(super) const NOT_NOW: SmtpRefusal = refusal(
    "no-mail-at-present",
    "452 4.2.1 This inbox takes no mail at present. Try again later.",
);
pub(super) const ANY_MAIL: SmtpRefusal =
    refusal("needs-smtputf8", "553 5.6.7 This address needs SMTPUTF8.");
pub(super) const TOO_MANY_RECIPIENTS: SmtpRefusal =
    refusal("too-many-recipients", "452 4.5.3 Too many recipients.");
pub(super) const TOO_LARGE: SmtpRefusal = refusal("too-large", "552 5.3.4 The mail is too large.");
pub(super) const ENDLESS: SmtpRefusal =
    refusal("too-large", "421 4.3.4 The mail is far too large.");
pub(super) const BARE_LINE_END: SmtpRefusal =
    refusal("bare-line-end", "550 5.6.0 Every line of a mail must end with CR LF.");
pub(super) const MAIL_LOOP: SmtpRefusal =
    refusal("mail-loop", "450 4.4.6 The mail has been passed on too often.");
pub(super) const NO_ROOM: SmtpRefusal =
    refusal("no-room", "452 4.3.1 Too much mail comes in at once. Try again later.");
pub(super) const TROUBLE: SmtpRefusal =
    refusal("our-failure", "451 4.3.0 Something failed on our side. Try again later.");

pub(super) const TOO_MANY_MISTAKES: SmtpRefusal =
    refusal("too-many-mistakes", "421 4.7.0 Too many mistakes.");
pub(super) const TOO_MANY_COMMANDS: SmtpRefusal =
    refusal("too-many-commands", "421 4.7.0 Too many commands, try again later.");

/// The reasons of all refusals of a session; some are the reason of several.
pub const REASONS: &[&str] = &[
    UNKNOWN.reason,
    SYNTAX.reason,
    BAD_SENDER.reason,
    BAD_RECIPIENT.reason,
    PARAMETER.reason,
    NOT_MAIL.reason,
    LONG_LINE.reason,
    BARE_COMMAND_END.reason,
    OTHER_PROTOCOL.reason,
    GREET_FIRST.reason,
    MAIL_FIRST.reason,
    RECIPIENT_FIRST.reason,
    CHUNKS_BEGAN.reason,
    MAIL_UNDER_WAY.reason,
    NO_ENCRYPTION.reason,
    NO_INBOX.reason,
    NOT_NOW.reason,
    ANY_MAIL.reason,
    TOO_MANY_RECIPIENTS.reason,
    TOO_LARGE.reason,
    ENDLESS.reason,
    BARE_LINE_END.reason,
    MAIL_LOOP.reason,
    NO_ROOM.reason,
    TROUBLE.reason,
    TOO_MANY_MISTAKES.reason,
    TOO_MANY_COMMANDS.reason,
];
