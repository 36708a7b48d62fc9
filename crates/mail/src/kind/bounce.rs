//! Recognises bounces and the recipients they name.

use std::sync::LazyLock;

use mail_parser::Message;
use regex::Regex;

use super::reason::Progress;
use super::report::{self, MultipartReport};
use super::{Bounce, copy, list, reason};
use crate::headers::address::{is_address, normal_address};
use crate::headers::header::Header;
use crate::headers::people::address_within;
use crate::limits::BOUNCED_RECIPIENTS;
use crate::parsed_mail::ParsedMail;

static REPLY_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[45]\d\d[ \-]|\b[45]\.\d{1,3}\.\d{1,3}\b").expect("the pattern is valid")
});
static ADDRESSES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"[^\s<>()\[\]"',;:=@]+@[^\s<>()\[\]"',;:@]+"#).expect("the pattern is valid")
});

/// The recipients a bounce names; `None` for a mail that is no bounce.
pub(super) fn bounces(
    message: &Message<'_>,
    header: &Header,
    mail: &ParsedMail,
    report: &MultipartReport,
    text: &str,
) -> Option<Vec<Bounce>> {
    // What a list passes on to its members is none of ours, even a bounce that reached the list.
    let listed = list::passed_on(header) && !mail.return_path.as_deref().is_some_and(str::is_empty);
    if listed || (report.is_receipt() && report.delivery.is_empty()) {
        return None;
    }
    let evidence = Evidence::of(header, mail);
    if !report.is_delivery_status() && !evidence.may_be_bounce(header) {
        return None;
    }
    let said = copy::before(text);
    if !report.is_delivery_status() && !evidence.is_bounce(header, said) {
        return None;
    }
    if report.tells_success() {
        return Some(Vec::new());
    }
    let in_text = report::groups(text);
    let groups = if report.delivery.is_empty() { &in_text } else { &report.delivery };
    let mut bounces = from_fields(groups, said);
    if bounces.is_empty() {
        bounces = from_words(message, header, mail, &evidence, said, text);
    }
    bounces.truncate(BOUNCED_RECIPIENTS);
    Some(bounces)
}

/// What speaks for a bounce where no delivery status does.
struct Evidence {
    /// From a mail system.
    daemon: bool,
    /// From an address that takes no answers.
    nobody: bool,
    /// Wants no bounces itself.
    null_path: bool,
    subject: bool,
    delayed: bool,
}

impl Evidence {
    fn of(header: &Header, mail: &ParsedMail) -> Evidence {
        let subject = mail.subject.to_lowercase();
        let told = |words: &[&str]| words.iter().any(|word| subject.contains(word));
        Evidence {
            daemon: is_daemon(header, mail),
            nobody: mail.from.as_ref().is_some_and(|from| {
                from.email.starts_with("no-reply@") || from.email.starts_with("noreply@")
            }),
            null_path: mail.return_path.as_deref().is_some_and(str::is_empty),
            subject: told(BOUNCE_SUBJECTS),
            delayed: told(DELAYED_SUBJECTS),
        }
    }

    /// False for almost every mail, before its text is looked at.
    fn may_be_bounce(&self, header: &Header) -> bool {
        self.daemon || self.null_path || self.nobody || header.has("x-failed-recipients")
    }

    /// No sign is enough alone: scams use the empty return path, lists write as postmaster.
    fn is_bounce(&self, header: &Header, said: &str) -> bool {
        if header.has("x-failed-recipients") {
            return true;
        }
        let code = REPLY_CODE.is_match(said) || says_undelivered(said);
        let answers = header.lower("auto-submitted").starts_with("auto-replied");
        (self.daemon && (self.subject || code))
            || (self.null_path && self.subject && (code || !answers))
            || (self.nobody && code && (self.subject || self.null_path))
    }
}

fn is_daemon(header: &Header, mail: &ParsedMail) -> bool {
    let Some(from) = &mail.from else {
        let from = header.lower("from");
        return from.contains("mailer-daemon")
            || from.trim() == "<>"
            || from.contains("postmaster");
    };
    let local = from.email.split('@').next().unwrap_or_default();
    let name = header.lower("from");
    DAEMONS.contains(&local) || DAEMON_NAMES.iter().any(|words| name.contains(words))
}

fn says_undelivered(said: &str) -> bool {
    let said = said.to_lowercase();
    UNDELIVERED.iter().any(|words| said.contains(words))
}

/// Recipients named by fields: a delivery status, or text in its form (RFC 3464).
fn from_fields(groups: &[Header], said: &str) -> Vec<Bounce> {
    let mut bounces: Vec<Bounce> = Vec::new();
    for group in groups {
        let action = group.lower("action");
        let good = ["delivered", "relayed", "expanded"].iter().any(|word| action.starts_with(word));
        let named = ["original-recipient", "final-recipient", "x-actual-recipient"];
        let recipient = named.iter().filter_map(|field| group.get(field)).find_map(recipient);
        let Some(recipient) = recipient.filter(|_| !good) else { continue };
        if bounces.iter().any(|bounce| bounce.recipient == recipient) {
            continue;
        }
        if bounces.len() == BOUNCED_RECIPIENTS {
            break;
        }
        let told = ["diagnostic-code", "x-supplementary-info", "x-postfix-sender"];
        let diagnostic: Vec<&str> = told.iter().filter_map(|field| group.get(field)).collect();
        let diagnostic = diagnostic.join(" ");
        let status = group.get("status");
        let words = if tells_nothing(&diagnostic) || !reason::tells_cause(status, &diagnostic) {
            format!("{diagnostic} {}", about(&recipient, said))
        } else {
            diagnostic
        };
        let gave_up = action.starts_with("failed");
        let progress = match gave_up {
            true => Progress::GaveUp,
            false if action.starts_with("delayed") => Progress::Delayed,
            false => Progress::Untold,
        };
        let (status, hard) = reason::judge(status, progress, &words);
        bounces.push(Bounce { recipient, status, hard, gave_up });
    }
    bounces
}

fn tells_nothing(diagnostic: &str) -> bool {
    diagnostic.chars().filter(|c| c.is_alphabetic()).count() < 12
}

/// `rfc822; ann@x.example` as an address.
fn recipient(field: &str) -> Option<String> {
    let (_, address) = field.rsplit_once(';').unwrap_or(("", field));
    let address = address.trim().trim_matches(['<', '>', '"']);
    let bare = is_address(address).then(|| normal_address(address));
    bare.or_else(|| address_within(address).map(|address| address.email))
}

/// Recipients found in prose.
fn from_words(
    message: &Message<'_>,
    header: &Header,
    mail: &ParsedMail,
    evidence: &Evidence,
    said: &str,
    text: &str,
) -> Vec<Bounce> {
    let listed = header.all("x-failed-recipients").flat_map(|field| field.split(','));
    let mut recipients: Vec<String> = listed.filter_map(recipient).collect();
    let ours = |email: &str| {
        mail.to.iter().any(|to| to.email == email)
            || mail.from.as_ref().is_some_and(|from| from.email == email)
            || DAEMONS.contains(&email.split('@').next().unwrap_or_default())
    };
    let original = copy::original(message, text).to;
    if recipients.is_empty() {
        recipients = named_in(said).into_iter().filter(|email| !ours(email)).collect();
    }
    if recipients.is_empty() {
        let subject = address_within(&mail.subject).map(|address| address.email);
        recipients.extend(subject.filter(|email| !ours(email)).or(original));
    }
    let progress = if evidence.delayed { Progress::Delayed } else { Progress::Untold };
    recipients.truncate(BOUNCED_RECIPIENTS);
    let alone = recipients.len() == 1;
    let judged = recipients.into_iter().map(|recipient| {
        let told = about(&recipient, said);
        // Where it is about one recipient only, the cause may stand before its name.
        let told = if alone && !reason::tells_cause(None, &told) { said } else { told.as_str() };
        let (status, hard) = reason::judge(None, progress, told);
        Bounce { recipient, status, hard, gave_up: false }
    });
    judged.collect()
}

/// Addresses in prose, each once. A line that begins with one names a recipient; where there is
/// such a line, addresses within sentences are not looked at.
fn named_in(said: &str) -> Vec<String> {
    let (mut leading, mut within): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for line in said.lines() {
        let lower = line.trim().to_lowercase();
        if lower.starts_with("mail from")
            || lower.starts_with("from:")
            || lower.contains("postmaster")
        {
            continue;
        }
        for found in ADDRESSES.find_iter(line) {
            let email = found.as_str().trim_matches(|c: char| !c.is_alphanumeric());
            if !is_address(email)
                || !email.rsplit('@').next().is_some_and(|host| host.contains('.'))
            {
                continue;
            }
            let before =
                line[..found.start()].trim().trim_end_matches(['<', '(', '"', '\'']).trim();
            let leads = before.is_empty() || before.to_lowercase().ends_with("rcpt to:");
            let list = if leads { &mut leading } else { &mut within };
            let email = normal_address(email);
            if !list.contains(&email) && list.len() < BOUNCED_RECIPIENTS {
                list.push(email);
            }
        }
    }
    if leading.is_empty() { within.into_iter().take(1).collect() } else { leading }
}

/// What is said of one recipient: from the line that names it to the next line that begins with
/// another address; all of it when it is not named.
fn about(recipient: &str, said: &str) -> String {
    let lower = said.to_lowercase();
    let Some(at) = lower.find(recipient) else { return lower };
    let start = lower[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut told = String::new();
    for (index, line) in lower[start..].lines().enumerate() {
        let names_other = index > 0
            && line.split_whitespace().take(3).any(|word| {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                is_address(word) && word != recipient
            });
        if names_other {
            break;
        }
        told.push_str(line);
        told.push(' ');
    }
    told
}

const DAEMONS: &[&str] = &[
    "mailer-daemon",
    "mailerdaemon",
    "mail-daemon",
    "postmaster",
    "post_master",
    "mail.delivery.system",
    "mdaemon",
    "double-bounce",
    "bounce-notification",
];

const DAEMON_NAMES: &[&str] = &[
    "mail delivery sub",
    "mail delivery sys",
    "mail deliver system",
    "mailer daemon",
    "mailer-daemon",
    "mail administrator",
    "ndr administrator",
    "mail system <",
];

const DELAYED_SUBJECTS: &[&str] = &["delay", "warning:", "still trying", "verzögert", "retardé"];

const BOUNCE_SUBJECTS: &[&str] = &[
    "undeliver",
    "returned mail",
    "returned to sender",
    "returning message",
    "return receipt failed",
    "failure notice",
    "failure notification",
    "delivery status",
    "delivery fail",
    "delivery has failed",
    "delivery error",
    "delivery delay",
    "delivery notification",
    "delivery problem",
    "delivery report",
    "mail delivery",
    "mail failure",
    "mail system error",
    "message delivery",
    "message not delivered",
    "could not be delivered",
    "couldn't be delivered",
    "not delivered",
    "unable to deliver",
    "error sending your mail",
    "bounce notification",
    "warning: could not send",
    "rejected mail",
    "non-delivery",
    "nondeliverable",
    "unzustellbar",
    "nicht zugestellt",
    "zustellung fehlgeschlagen",
    "unzustellbarkeit",
    "non remis",
    "non distribu",
    "échec de la remise",
    "échec de remise",
    "échec d'envoi",
    "no se pudo entregar",
    "no entregado",
    "no se ha podido entregar",
    "error de entrega",
    "mancata consegna",
    "non recapitabile",
    "impossibile recapitare",
    "recapito non riuscito",
    "não entregue",
    "falha na entrega",
    "falha no envio",
    "niet worden bezorgd",
    "onbestelbaar",
    "niet afgeleverd",
    "kunde inte levereras",
    "kunne ikke leveres",
    "toimittaminen epäonnistui",
    "nie można dostarczyć",
    "niedostarczon",
    "nelze doručit",
    "nedoručiteln",
    "kézbesíthetetlen",
    "teslim edilemedi",
    "не доставлено",
    "недоставлен",
    "сбой доставки",
    "не вдалося доставити",
    "無法傳遞",
    "无法投递",
    "退信",
    "配信不能",
    "配信エラー",
    "メールエラー",
    "送信エラー",
    "배달 실패",
    "반송",
];

/// Sentences of mail systems that give no code.
const UNDELIVERED: &[&str] = &[
    "did not reach the following recipient",
    "could not be delivered to",
    "unable to deliver",
    "delivery has failed to these",
    "couldn't be delivered to",
    "was not delivered to",
    "wasn't delivered to",
    "was rejected and discarded",
    "could not deliver",
];
