//! How mail gets into an inbox: fetched by IMAP or Microsoft Graph, or received by SMTP or LMTP.

use actions::inboxes::imap_accounts::FetchedInbox;
use base::limits::FETCHING_OVERDUE_MS;
use model::mailboxes::mailbox_grants::SignInProvider;
use translation::{sentence, t};
use transport::net::listen_address::ListenAddress;
use web::layout::wording::{DisplayTime, TimeFormat};
use web::mail_setup::MailSetup;

/// A state in one word, with its colour and icon.
#[derive(Clone, Copy)]
pub struct StatusBadge {
    pub class: &'static str,
    pub icon: &'static str,
    pub word: &'static str,
}

/// How an inbox is fetched, as the settings show it.
pub struct FetchedView {
    pub host: String,
    pub port: i64,
    /// By Microsoft Graph instead of IMAP.
    pub by_graph: bool,
    pub username: String,
    pub folder: String,
    pub state: StatusBadge,
    pub last: Option<DisplayTime>,
    pub mails: String,
    /// How many mails could not be fetched, and the reason of the last one.
    pub skipped: Option<(i64, String)>,
    pub trouble: Option<TroubleView>,
    /// The provider that was signed in at, where that is no password.
    pub provider: Option<&'static str>,
    /// Somebody has to sign in again.
    pub sign_in_over: bool,
}

/// Why no mail is fetched, and when it is tried again.
pub struct TroubleView {
    pub title: &'static str,
    pub since: DisplayTime,
    pub reason: String,
    pub next: Option<DisplayTime>,
}

/// A mail listener, as senders see it.
pub struct ListenerView {
    pub label: &'static str,
    pub place: String,
    pub hint: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fetching {
    Begins,
    Works,
    Fails,
    /// It is overdue, and no process fetches it.
    Stopped,
}

pub fn fetched_view(fetched: &FetchedInbox, times: &TimeFormat) -> FetchedView {
    FetchedView {
        host: fetched.host.clone(),
        port: fetched.port,
        by_graph: fetched.by_graph,
        username: fetched.username.clone(),
        folder: fetched.folder.clone(),
        state: state_of(fetched, times.now),
        last: fetched.last_fetched_at.map(|at| times.long(at.0)),
        mails: match fetched.fetched {
            1 => t!("1 mail so far").into(),
            n => t!("{n} mails so far", n),
        },
        skipped: fetched
            .last_skipped
            .as_deref()
            .map(|last| (fetched.skipped, sentence(last).into_owned())),
        trouble: trouble(fetched, times),
        provider: fetched.provider.map(SignInProvider::name),
        sign_in_over: fetched.sign_in_over,
    }
}

/// The state of fetching.
pub fn state_of(fetched: &FetchedInbox, now: i64) -> StatusBadge {
    match how(fetched, now) {
        Fetching::Begins => StatusBadge { class: "act", icon: "wait", word: t!("Not fetched yet") },
        Fetching::Works => StatusBadge { class: "ok", icon: "check", word: t!("Working") },
        Fetching::Fails => StatusBadge { class: "danger", icon: "fail", word: t!("Failing") },
        Fetching::Stopped => StatusBadge { class: "danger", icon: "pause", word: t!("Stopped") },
    }
}

fn how(fetched: &FetchedInbox, now: i64) -> Fetching {
    match (fetched.failing_since, fetched.last_fetched_at) {
        _ if now - fetched.due_at.0 > FETCHING_OVERDUE_MS => Fetching::Stopped,
        (Some(_), _) => Fetching::Fails,
        (None, None) => Fetching::Begins,
        (None, Some(_)) => Fetching::Works,
    }
}

fn trouble(fetched: &FetchedInbox, times: &TimeFormat) -> Option<TroubleView> {
    match how(fetched, times.now) {
        Fetching::Begins | Fetching::Works => None,
        Fetching::Fails => Some(TroubleView {
            title: t!("Mail cannot be fetched since"),
            since: times.long(fetched.failing_since?.0),
            reason: sentence(fetched.last_error.as_deref().unwrap_or_default()).into_owned(),
            next: fetched.next_attempt_at.map(|at| times.long(at.0)),
        }),
        Fetching::Stopped => Some(TroubleView {
            title: t!("Nobody fetches this inbox since"),
            since: times.long(fetched.due_at.0),
            reason: t!(
                "It was due then, and no server of yours took it on. See whether mailroom serve \
                 runs where the inbox was set up, and what its log says."
            )
            .into(),
            next: None,
        }),
    }
}

/// The listeners of this server that receive mail.
pub fn listeners(mail_setup: &MailSetup) -> Vec<ListenerView> {
    let smtp = match &mail_setup.smtp {
        ListenAddress::Off => None,
        place if is_local(place) => Some(ListenerView {
            label: "SMTP",
            place: place.to_string(),
            hint: t!("Only programs on the same machine reach it. To take mail from others, set \
                 MAILROOM_SMTP_LISTEN to 0.0.0.0:25."),
        }),
        place => Some(ListenerView {
            label: "SMTP",
            place: from_outside(place, mail_setup.sending.host.as_deref()),
            hint: t!(
                "Name it in the domain's MX record, or let the mail server you have pass on or \
                 forward mail to it."
            ),
        }),
    };
    let lmtp = (mail_setup.lmtp != ListenAddress::Off).then(|| ListenerView {
        label: "LMTP",
        place: mail_setup.lmtp.to_string(),
        hint: t!("A mail server of yours hands over here."),
    });
    smtp.into_iter().chain(lmtp).collect()
}

/// The state of an inbox whose mail is not fetched.
pub fn listener_state(mail_setup: &MailSetup) -> StatusBadge {
    match (&mail_setup.smtp, &mail_setup.lmtp) {
        (ListenAddress::Off, ListenAddress::Off) => {
            StatusBadge { class: "warn", icon: "warn", word: t!("Nothing comes in") }
        }
        (ListenAddress::Off, _) => {
            StatusBadge { class: "ok", icon: "in", word: t!("Taken by LMTP") }
        }
        (place, ListenAddress::Off) if is_local(place) => {
            StatusBadge { class: "warn", icon: "in", word: t!("Only from this machine") }
        }
        (_, _) => StatusBadge { class: "ok", icon: "in", word: t!("Taken by SMTP") },
    }
}

fn is_local(place: &ListenAddress) -> bool {
    match place {
        ListenAddress::Tcp(address) => address.ip().is_loopback(),
        ListenAddress::Unix(_) => true,
        ListenAddress::Off => false,
    }
}

/// The public address of a listener: the machine's name, where it has one, and the port.
fn from_outside(place: &ListenAddress, host: Option<&str>) -> String {
    match (place, host) {
        (ListenAddress::Tcp(address), Some(host)) => {
            t!("{host}, port {port}", host, port = address.port())
        }
        (place, _) => place.to_string(),
    }
}
