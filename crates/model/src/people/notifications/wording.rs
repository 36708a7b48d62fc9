//! The words of notices, in the language of the person: one line for what happened in a conversation, and the text
//! of mails.

use base::ids::{AgentId, ConversationId};
use translation::t;

use crate::people::notifications::choices::NoticeKind;
use crate::people::notifications::notified_conversation::NotifiedConversation;
use crate::people::notifications::push::BrowserNotice;

/// Characters of a name and of a subject in a notice.
const NAME_CHARS: usize = 80;
const SUBJECT_CHARS: usize = 160;
/// Conversations that a digest lists.
const LISTED: usize = 100;

/// Subject and text of a mail.
pub struct NoticeMail {
    pub subject: String,
    pub text: String,
}

impl NotifiedConversation {
    /// What happened, with names where the person wants them. The words of a protected message, and who wrote
    /// it, are never said.
    fn title(&self, names: bool) -> String {
        let told = self.main_fact();
        let by = Some(clip(&told.by_name, NAME_CHARS)).filter(|by| names && !by.is_empty());
        let writer = self.writer.as_deref().map(|name| clip(name, NAME_CHARS));
        let writer = writer.filter(|_| names && !self.protected);
        match (told.kind, by, writer) {
            (NoticeKind::Mentioned, Some(by), _) => t!("{by} mentioned you in a note", by),
            (NoticeKind::Mentioned, None, _) => t!("You were mentioned in a note").into(),
            (NoticeKind::Assigned, Some(by), _) => t!("{by} assigned you a conversation", by),
            (NoticeKind::Assigned, None, _) => t!("A conversation was assigned to you").into(),
            (NoticeKind::Reply | NoticeKind::Followed, ..) if self.protected => {
                t!("New protected reply").into()
            }
            (NoticeKind::Reply | NoticeKind::Followed, _, Some(writer)) => {
                t!("New reply from {writer}", writer)
            }
            (NoticeKind::Reply | NoticeKind::Followed, _, None) => t!("New reply").into(),
            (NoticeKind::MessageFailed, ..) => t!("A message could not be delivered").into(),
            (NoticeKind::Unanswered, ..) => t!("Nobody has answered yet").into(),
            (NoticeKind::DraftWaits, ..) => t!("A draft waits for approval").into(),
            (NoticeKind::TargetMissed, ..) => t!("A response target was missed").into(),
            (NoticeKind::NewConversation, _, Some(writer)) => {
                t!("New conversation from {writer}", writer)
            }
            (NoticeKind::NewConversation, _, None) => t!("New conversation").into(),
            (NoticeKind::AgentAlarm, by, _) => alarm_title(by.as_deref()),
        }
    }

    fn subject(&self, names: bool) -> Option<String> {
        (names && !self.protected && !self.subject.trim().is_empty())
            .then(|| clip(&self.subject, SUBJECT_CHARS))
    }

    /// For a browser.
    pub fn browser_notice(&self, names: bool) -> BrowserNotice {
        let told = self.main_fact();
        BrowserNotice {
            title: self.title(names),
            body: self.subject(names).unwrap_or_else(|| t!("Open Mailroom to see it.").into()),
            url: format!("/conversations/{}", self.id),
            tag: self.id.to_string(),
            urgent: matches!(
                told.kind,
                NoticeKind::Mentioned | NoticeKind::Assigned | NoticeKind::AgentAlarm
            ),
            conversation: Some(self.id.clone()),
        }
    }

    /// Mail may leave by a server that the workspace's owners set and can read, so it names nothing of an
    /// inbox that not everybody sees.
    fn is_named_by_mail(&self, names: bool) -> bool {
        names && !self.circle.is_closed()
    }

    /// The inbox in a mail.
    fn inbox_by_mail(&self) -> &str {
        if self.circle.is_closed() {
            t!("Inboxes that not everybody sees")
        } else {
            &self.mailbox_name
        }
    }

    /// By mail, alone.
    pub fn mail(&self, names: bool, public_url: &str) -> NoticeMail {
        let names = self.is_named_by_mail(names);
        let title = self.title(names);
        let about = self.subject(names).map(|subject| format!("\"{subject}\"\n\n"));
        let open = t!("Open it: {address}", address = address(public_url, &self.id));
        let text =
            format!("{title}.\n\n{}{open}\n\n{}", about.unwrap_or_default(), footer(public_url));
        NoticeMail { subject: title, text }
    }

    /// A line of a digest.
    fn line(&self, names: bool) -> String {
        let names = self.is_named_by_mail(names);
        match self.subject(names) {
            Some(subject) => format!("{}: {subject}", self.title(names)),
            None => self.title(names),
        }
    }
}

/// One notice of several conversations, for a browser. It names none of them.
pub fn browser_summary(count: usize) -> BrowserNotice {
    BrowserNotice {
        title: t!("{count} conversations have news for you", count),
        body: t!("Open Mailroom to see them.").into(),
        url: "/inbox".into(),
        tag: "digest".into(),
        urgent: false,
        conversation: None,
    }
}

/// One mail of several conversations, by inbox.
pub fn digest(told: &[&NotifiedConversation], names: bool, public_url: &str) -> NoticeMail {
    let mut inboxes: Vec<&str> = told.iter().map(|one| one.inbox_by_mail()).collect();
    inboxes.sort_unstable();
    inboxes.dedup();
    let mut text = String::new();
    let mut room = LISTED;
    for inbox in inboxes {
        let of_inbox: Vec<&&NotifiedConversation> =
            told.iter().filter(|one| one.inbox_by_mail() == inbox).collect();
        text.push_str(&format!("{} ({})\n\n", clip(inbox, NAME_CHARS), of_inbox.len()));
        for one in of_inbox.iter().take(room) {
            text.push_str(&format!("{}\n{}\n\n", one.line(names), address(public_url, &one.id)));
        }
        if of_inbox.len() > room {
            let more = of_inbox.len() - room;
            text.push_str(&t!(
                "And {more} more: {address}",
                more,
                address = format!("{public_url}/inbox")
            ));
            text.push_str("\n\n");
        }
        room = room.saturating_sub(of_inbox.len());
    }
    text.push_str(&footer(public_url));
    NoticeMail { subject: t!("{count} conversations have news for you", count = told.len()), text }
}

fn alarm_title(agent: Option<&str>) -> String {
    match agent {
        Some(by) => {
            t!("Look at the agent {by}: it was paused, or changed very many conversations", by)
        }
        None => t!("Look at an agent: it was paused, or changed very many conversations").into(),
    }
}

/// An alarm about an agent that no conversation leads to, as mail.
pub fn alarm_mail(agent: &AgentId, name: Option<&str>, public_url: &str) -> NoticeMail {
    let title = alarm_title(name.map(|name| clip(name, NAME_CHARS)).as_deref());
    let open = t!("Open it: {address}", address = format!("{public_url}{}", agent_path(agent)));
    let text = format!("{title}.\n\n{open}\n\n{}", footer(public_url));
    NoticeMail { subject: title, text }
}

/// The same for a browser.
pub fn alarm_browser_notice(agent: &AgentId, name: Option<&str>) -> BrowserNotice {
    BrowserNotice {
        title: alarm_title(name.map(|name| clip(name, NAME_CHARS)).as_deref()),
        body: t!("Open Mailroom to see it.").into(),
        url: agent_path(agent),
        tag: agent.to_string(),
        urgent: true,
        conversation: None,
    }
}

/// The page of an agent, where it is paused and works again.
fn agent_path(agent: &AgentId) -> String {
    format!("/settings/agents/{agent}")
}

/// What somebody gets who wants to see that notices arrive.
pub fn test_mail(public_url: &str) -> NoticeMail {
    NoticeMail {
        subject: t!("Test notice").into(),
        text: format!(
            "{}\n\n{}",
            t!("This is the test notice that you asked for."),
            footer(public_url)
        ),
    }
}

pub fn test_browser_notice() -> BrowserNotice {
    BrowserNotice {
        title: t!("Test notice").into(),
        body: t!("Notices reach this browser.").into(),
        url: "/settings/notifications".into(),
        tag: "test".into(),
        urgent: true,
        conversation: None,
    }
}

fn address(public_url: &str, conversation: &ConversationId) -> String {
    format!("{public_url}/conversations/{conversation}")
}

/// Where the choice of notices is.
pub fn footer(public_url: &str) -> String {
    let address = format!("{public_url}/settings/notifications");
    let line = t!("What you are told of, and how: {address}", address);
    format!("{line}\n")
}

/// One line of at most so many characters.
pub fn clip(text: &str, most: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.chars().count() > most {
        true => line.chars().take(most - 1).chain(['…']).collect(),
        false => line,
    }
}
