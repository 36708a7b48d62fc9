//! What a person is told of and by which ways, in every inbox or in one.

use base::error::Result;
use base::ids::{MailboxId, UserId};
use base::string_enum::string_enum;
use db::Tx;

string_enum! {
    /// What can be told of. The first is what a notice about several speaks of.
    NoticeKind {
        Mentioned = "mentioned",
        Assigned = "assigned",
        Reply = "reply",
        Followed = "followed",
        MessageFailed = "message-failed",
        Unanswered = "unanswered",
        DraftWaits = "draft-waits",
        TargetMissed = "target-missed",
        NewConversation = "new-conversation",
        AgentAlarm = "agent-alarm",
    }
}

string_enum! {
    /// By mail: not at all, each at once, or in a digest.
    MailNotice { No = "no", AtOnce = "at-once", Digest = "digest" }
}

impl NoticeKind {
    /// What somebody gets who chose nothing: browsers tell of what concerns them, mail of
    /// mentions and of what they follow.
    pub fn usual(self) -> NoticeChoice {
        match self {
            NoticeKind::Mentioned | NoticeKind::Followed | NoticeKind::AgentAlarm => {
                NoticeChoice { browser: true, mail: MailNotice::AtOnce }
            }
            NoticeKind::Assigned
            | NoticeKind::Reply
            | NoticeKind::MessageFailed
            | NoticeKind::Unanswered => NoticeChoice { browser: true, mail: MailNotice::No },
            NoticeKind::DraftWaits | NoticeKind::TargetMissed | NoticeKind::NewConversation => {
                NoticeChoice { browser: false, mail: MailNotice::No }
            }
        }
    }
}

/// By which ways somebody is told of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeChoice {
    pub browser: bool,
    pub mail: MailNotice,
}

db::row! {
    /// What somebody chose for one kind; `None` is as usual.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OwnNoticeChoice from "notice_choices" {
        pub kind: NoticeKind,
        pub browser: Option<bool>,
        pub mail: Option<MailNotice>,
    }
}

/// What somebody chose for every inbox, or for one.
pub fn own(
    tx: &mut Tx<'_>,
    ws: i64,
    person: &UserId,
    mailbox: Option<&MailboxId>,
) -> Result<Vec<OwnNoticeChoice>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM notice_choices WHERE ws = ?1 AND person = ?2 AND mailbox = ?3",
            OwnNoticeChoice::COLUMNS
        ),
        &[&ws, person, &to_row(mailbox)],
    )?)
}

/// The inboxes for which somebody chose something of their own.
pub fn own_inboxes(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Vec<MailboxId>> {
    let found: Vec<(MailboxId,)> = tx.all(
        "SELECT DISTINCT mailbox FROM notice_choices
         WHERE ws = ?1 AND person = ?2 AND mailbox > '' ORDER BY mailbox",
        &[&ws, person],
    )?;
    Ok(found.into_iter().map(|(mailbox,)| mailbox).collect())
}

/// Keeps what somebody chose for a kind, in every inbox or in one.
pub fn keep(
    tx: &mut Tx<'_>,
    ws: i64,
    person: &UserId,
    mailbox: Option<&MailboxId>,
    choice: &OwnNoticeChoice,
) -> Result<()> {
    let mailbox = to_row(mailbox);
    if choice.browser.is_none() && choice.mail.is_none() {
        tx.exec(
            "DELETE FROM notice_choices WHERE ws = ?1 AND kind = ?2 AND mailbox = ?3 AND person = ?4",
            &[&ws, &choice.kind, &mailbox, person],
        )?;
        return Ok(());
    }
    tx.exec(
        "INSERT INTO notice_choices (ws, kind, mailbox, person, browser, mail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (ws, kind, mailbox, person) DO UPDATE
         SET browser = excluded.browser, mail = excluded.mail",
        &[&ws, &choice.kind, &mailbox, person, &choice.browser, &choice.mail],
    )?;
    Ok(())
}

/// How a person is told of a kind in an inbox, or of what is in none.
pub fn of(
    tx: &mut Tx<'_>,
    ws: i64,
    person: &UserId,
    kind: NoticeKind,
    mailbox: Option<&MailboxId>,
) -> Result<NoticeChoice> {
    // The empty name of every inbox comes before all others.
    let chosen: Vec<OwnNoticeChoice> = tx.all(
        &format!(
            "SELECT {} FROM notice_choices
             WHERE ws = ?1 AND kind = ?2 AND mailbox IN ('', ?3) AND person = ?4
             ORDER BY mailbox",
            OwnNoticeChoice::COLUMNS
        ),
        &[&ws, &kind, &to_row(mailbox), person],
    )?;
    Ok(resolve(kind, &chosen))
}

/// The people who chose anything about a kind for this inbox or for every inbox.
pub fn choosers(
    tx: &mut Tx<'_>,
    ws: i64,
    kind: NoticeKind,
    mailbox: Option<&MailboxId>,
) -> Result<Vec<UserId>> {
    let found: Vec<(UserId,)> = tx.all(
        "SELECT person FROM notice_choices WHERE ws = ?1 AND kind = ?2 AND mailbox IN ('', ?3)
         ORDER BY mailbox, person",
        &[&ws, &kind, &to_row(mailbox)],
    )?;
    let mut people: Vec<UserId> = found.into_iter().map(|(person,)| person).collect();
    people.sort();
    people.dedup();
    Ok(people)
}

/// The later choice counts before the earlier one.
pub fn resolve(kind: NoticeKind, chosen: &[OwnNoticeChoice]) -> NoticeChoice {
    chosen.iter().fold(kind.usual(), |usual, own| NoticeChoice {
        browser: own.browser.unwrap_or(usual.browser),
        mail: own.mail.unwrap_or(usual.mail),
    })
}

fn to_row(mailbox: Option<&MailboxId>) -> &str {
    mailbox.map_or("", |mailbox| mailbox.as_str())
}
