//! An open IMAP folder.
//!
//! Commands run one by one and their status is checked: a refused FETCH, or a connection lost
//! within a response, must not be taken for a deleted mail.

use std::collections::HashMap;
use std::time::Duration;

use async_imap::Session;
use async_imap::imap_proto::{
    AttributeValue, Capability, MailboxDatum, MailboxListData, NameAttribute, Response,
    ResponseCode, Status,
};
use inbound::imap::{ImapServer, PostFetchAction};
use jiff::Timestamp;
use jiff::fmt::strtime::BrokenDownTime;
use tokio::time::{sleep, timeout};

use super::connection::{ImapConnection, ImapCredential};
use super::failures::{ImapFault, ImapTimeouts};
use super::folder_name::on_the_wire;
use super::transport::{ANSWER_BYTES, ImapWire};

/// Usual names of the folder of sent mail, for servers that do not mark it.
const SENT_NAMES: &[&str] = &[
    "Sent",
    "Sent Items",
    "Sent Messages",
    "Sent Mail",
    "Gesendet",
    "Gesendete Objekte",
    "Gesendete Elemente",
    "Envoyés",
    "Messages envoyés",
    "Éléments envoyés",
    "Enviados",
    "Elementos enviados",
    "Itens enviados",
    "Inviata",
    "Posta inviata",
    "Verzonden",
    "Verzonden items",
    "Skickat",
    "Sendt",
    "Wysłane",
    "Отправленные",
];
/// UIDs requested at once where there may be many.
const WINDOW: u32 = 10_000;

/// The optional capabilities of the server that are used.
#[derive(Clone, Copy, Debug, Default)]
struct Capabilities {
    idle: bool,
    moves: bool,
    uid_plus: bool,
    id: bool,
}

pub struct Folder {
    session: Session<ImapWire>,
    capabilities: Capabilities,
    timeouts: ImapTimeouts,
    /// Numbers mean the same mails only while this stays the same.
    pub validity: i64,
    /// The number that the next mail will have, as it was when the folder was opened.
    pub next_uid: Option<u32>,
    /// Mails in it, as it was when the folder was opened.
    pub mails: u32,
}

/// The metadata of a mail before its download.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailOutline {
    pub bytes: u32,
    /// When the server took it, in milliseconds.
    pub taken_at: Option<i64>,
}

impl Folder {
    pub async fn open(
        line: ImapConnection,
        server: &ImapServer,
        credential: ImapCredential<'_>,
        after: &PostFetchAction,
        timeouts: ImapTimeouts,
    ) -> Result<Folder, ImapFault> {
        let session = timeouts.answer(line.log_in(&server.username, credential)).await??;
        let (validity, next_uid, mails) = (0, None, 0);
        let capabilities = Capabilities::default();
        let mut folder = Folder { session, capabilities, timeouts, validity, next_uid, mails };
        folder.learn().await?;
        folder.select(&server.folder).await?;
        if let PostFetchAction::Move(to) = after {
            folder.make(to).await?;
        }
        Ok(folder)
    }

    async fn learn(&mut self) -> Result<(), ImapFault> {
        let mut capabilities = Capabilities::default();
        self.run("CAPABILITY", |response| {
            let Response::Capabilities(all) = response else { return };
            for capability in all {
                let Capability::Atom(name) = capability else { continue };
                match name.to_ascii_uppercase().as_str() {
                    "IDLE" => capabilities.idle = true,
                    "MOVE" => capabilities.moves = true,
                    "UIDPLUS" => capabilities.uid_plus = true,
                    "ID" => capabilities.id = true,
                    _ => {}
                }
            }
        })
        .await?;
        self.capabilities = capabilities;
        if capabilities.id {
            // Some providers refuse clients that do not send ID.
            self.run(r#"ID ("name" "Mailroom")"#, |_| {}).await.or_else(unless_refused)?;
        }
        Ok(())
    }

    /// Opens a folder by its name.
    pub async fn select(&mut self, name: &str) -> Result<(), ImapFault> {
        self.select_named(&on_the_wire(name)).await
    }

    /// Opens a folder by its name as the server writes it.
    pub async fn select_named(&mut self, name: &str) -> Result<(), ImapFault> {
        let (mut validity, mut next_uid, mut mails) = (None, None, 0);
        let selected = self
            .run(&format!("SELECT {}", in_quotes(name)), |response| match response {
                Response::MailboxData(MailboxDatum::Exists(count)) => mails = *count,
                Response::Data { outcome, .. } => match outcome.code {
                    Some(ResponseCode::UidValidity(number)) => validity = Some(number),
                    Some(ResponseCode::UidNext(number)) => next_uid = Some(number),
                    _ => {}
                },
                _ => {}
            })
            .await;
        selected.map_err(|fault| match fault {
            ImapFault::Said(words) => ImapFault::NoFolder(words),
            fault => fault,
        })?;
        self.validity = i64::from(validity.ok_or(ImapFault::Unclear)?);
        (self.next_uid, self.mails) = (next_uid, mails);
        Ok(())
    }

    /// The folder of sent mail, by its name as the server writes it: the one that the server marks
    /// as such (RFC 6154), or one with a usual name.
    pub async fn find_sent(&mut self) -> Result<Option<String>, ImapFault> {
        let (mut marked, mut named) = (None, None);
        self.run("LIST \"\" \"*\"", |response| {
            let Response::MailboxData(MailboxDatum::List(listed)) = response else { return };
            let MailboxListData { name_attributes, delimiter, name } = listed;
            if name_attributes.contains(&NameAttribute::Sent) {
                marked = Some(name.to_string());
            }
            let last = match delimiter.as_deref().and_then(|mark| name.rsplit_once(mark)) {
                Some((_, last)) => last,
                None => name,
            };
            if SENT_NAMES.iter().any(|usual| on_the_wire(usual).eq_ignore_ascii_case(last)) {
                named = Some(name.to_string());
            }
        })
        .await?;
        Ok(marked.or(named))
    }

    /// True when a mail of the folder has this Message-ID.
    pub async fn has_message_id(&mut self, id: &str) -> Result<bool, ImapFault> {
        let mut found = false;
        let command = format!("UID SEARCH HEADER Message-ID {}", in_quotes(id));
        self.run(&command, |response| {
            if let Response::MailboxData(MailboxDatum::Search(uids)) = response {
                found |= !uids.is_empty();
            }
        })
        .await?;
        Ok(found)
    }

    /// Puts a mail into a folder, read, by the folder's name as the server writes it.
    pub async fn append(&mut self, name: &str, mail: &[u8]) -> Result<(), ImapFault> {
        self.session.as_mut().allow(ANSWER_BYTES);
        let timeouts = self.timeouts;
        let put = self.session.append(name, Some("(\\Seen)"), None, mail);
        Ok(timeouts.download(put).await??)
    }

    /// Makes the folder that mails are moved to, unless it is there.
    async fn make(&mut self, name: &str) -> Result<(), ImapFault> {
        self.run(&format!("CREATE {}", quote(name)), |_| {}).await.or_else(unless_refused)
    }

    /// The numbers of some mails after this one, in order: the nearest, and all of them where they
    /// are not very many. Empty when there is none.
    pub async fn uids_after(&mut self, last: i64) -> Result<Vec<u32>, ImapFault> {
        let first = u32::try_from(last + 1).unwrap_or(u32::MAX);
        let (mut from, mut width) = (first, WINDOW);
        while self.next_uid.is_some_and(|next| next.saturating_sub(from) > width) {
            let found = self.search(&format!("{from}:{}", from + width - 1), first).await?;
            if !found.is_empty() {
                return Ok(found);
            }
            (from, width) = (from + width, width.saturating_mul(2));
        }
        self.search(&format!("{from}:*"), first).await
    }

    /// The number of the first mail that the server took on the day of this moment or later, in
    /// UTC; `None` when there is none.
    pub async fn first_since(&mut self, moment: i64) -> Result<Option<u32>, ImapFault> {
        let day = Timestamp::from_millisecond(moment).map_err(|_| ImapFault::Unclear)?;
        let day = day.strftime("%-d-%b-%Y").to_string();
        let mut first: Option<u32> = None;
        self.run(&format!("UID SEARCH SINCE {day}"), |response| {
            if let Response::MailboxData(MailboxDatum::Search(uids)) = response {
                first = uids.iter().copied().chain(first).min();
            }
        })
        .await?;
        Ok(first)
    }

    /// `*` is the last mail even where its number is lower than what is asked for.
    async fn search(&mut self, range: &str, first: u32) -> Result<Vec<u32>, ImapFault> {
        let mut found = Vec::new();
        self.run(&format!("UID SEARCH UID {range}"), |response| {
            if let Response::MailboxData(MailboxDatum::Search(uids)) = response {
                found.extend(uids.iter().copied().filter(|uid| *uid >= first));
            }
        })
        .await?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The metadata of each mail; one missing in the response was deleted.
    pub async fn outlines(&mut self, uids: &[u32]) -> Result<HashMap<u32, MailOutline>, ImapFault> {
        let set = uids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let mut outlines = HashMap::new();
        self.run(&format!("UID FETCH {set} (UID RFC822.SIZE INTERNALDATE)"), |response| {
            let Response::Fetch(_, attributes) = response else { return };
            let (mut uid, mut outline) = (None, MailOutline::default());
            for attribute in attributes {
                match attribute {
                    AttributeValue::Uid(number) => uid = Some(*number),
                    AttributeValue::Rfc822Size(bytes) => outline.bytes = *bytes,
                    AttributeValue::InternalDate(date) => outline.taken_at = moment(date),
                    _ => {}
                }
            }
            if let Some(uid) = uid {
                outlines.insert(uid, outline);
            }
        })
        .await?;
        Ok(outlines)
    }

    /// A mail's header; `None` when the mail is gone.
    pub async fn header(&mut self, uid: u32) -> Result<Option<Vec<u8>>, ImapFault> {
        self.section(uid, "HEADER", 1024 * 1024).await
    }

    /// A whole mail of so many bytes; `None` when it is gone. Reading it leaves it unread there.
    pub async fn mail(&mut self, uid: u32, bytes: u32) -> Result<Option<Vec<u8>>, ImapFault> {
        self.section(uid, "", u64::from(bytes)).await
    }

    async fn section(
        &mut self,
        uid: u32,
        section: &str,
        bytes: u64,
    ) -> Result<Option<Vec<u8>>, ImapFault> {
        let mut found = None;
        let command = format!("UID FETCH {uid} (UID BODY.PEEK[{section}])");
        self.session.as_mut().allow(bytes + ANSWER_BYTES);
        let timeouts = self.timeouts;
        let fetched = run(&mut self.session, &command, |response| {
            let Response::Fetch(_, attributes) = response else { return };
            let this = |attribute: &AttributeValue<'_>| *attribute == AttributeValue::Uid(uid);
            if !attributes.iter().any(this) {
                return;
            }
            for attribute in attributes {
                if let AttributeValue::BodySection { data: Some(data), .. } = attribute {
                    found = Some(data.to_vec());
                }
            }
        });
        timeouts.download(fetched).await??;
        Ok(found)
    }

    /// Applies the account's post-fetch action to a filed mail.
    pub async fn afterwards(&mut self, uid: u32, after: &PostFetchAction) -> Result<(), ImapFault> {
        match after {
            PostFetchAction::Nothing => Ok(()),
            PostFetchAction::Seen => self.store(uid, "\\Seen").await,
            PostFetchAction::Move(to) if self.capabilities.moves => {
                self.run(&format!("UID MOVE {uid} {}", quote(to)), |_| {}).await
            }
            PostFetchAction::Move(to) => {
                self.run(&format!("UID COPY {uid} {}", quote(to)), |_| {}).await?;
                self.store(uid, "\\Deleted").await?;
                if self.capabilities.uid_plus {
                    self.run(&format!("UID EXPUNGE {uid}"), |_| {}).await
                } else {
                    // Plain EXPUNGE would also delete mails that other clients have marked.
                    Ok(())
                }
            }
        }
    }

    async fn store(&mut self, uid: u32, flag: &str) -> Result<(), ImapFault> {
        self.run(&format!("UID STORE {uid} +FLAGS.SILENT ({flag})"), |_| {}).await
    }

    /// Waits by IDLE until the server reports a change or the timeout is over.
    pub async fn wait_for_news(
        mut self,
        idle: Duration,
        poll: Duration,
    ) -> Result<Folder, ImapFault> {
        if !self.capabilities.idle {
            sleep(poll).await;
            self.run("NOOP", |_| {}).await?;
            return Ok(self);
        }
        self.session.as_mut().allow(ANSWER_BYTES);
        let timeouts = self.timeouts;
        let mut handle = self.session.idle();
        timeouts.answer(handle.init()).await??;
        {
            // The keeping alive of some servers would let this wait forever; so it ends here.
            let (news, _interrupt) = handle.wait_with_timeout(idle);
            if let Ok(news) = timeout(idle, news).await {
                news?;
            }
        }
        self.session = timeouts.answer(handle.done()).await??;
        Ok(self)
    }

    /// Sends LOGOUT; the response is ignored.
    pub async fn close(mut self) {
        let _ = self.run("LOGOUT", |_| {}).await;
    }

    async fn run(
        &mut self,
        command: &str,
        see: impl FnMut(&Response<'_>),
    ) -> Result<(), ImapFault> {
        self.session.as_mut().allow(ANSWER_BYTES);
        let timeouts = self.timeouts;
        timeouts.answer(run(&mut self.session, command, see)).await?
    }
}

/// Runs a command and passes its untagged responses on. It succeeds only with a tagged OK.
async fn run(
    session: &mut Session<ImapWire>,
    command: &str,
    mut see: impl FnMut(&Response<'_>),
) -> Result<(), ImapFault> {
    let id = session.run_command(command).await?;
    loop {
        let response = session.read_response().await?.ok_or(ImapFault::BrokeOff)?;
        match response.parsed() {
            Response::Done { tag, status, outcome } if *tag == id => {
                let words = outcome.information.as_deref().unwrap_or("it gives no reason");
                return match status {
                    Status::Ok => Ok(()),
                    Status::No | Status::Bad => Err(ImapFault::from_refusal(words)),
                    Status::PreAuth | Status::Bye => Err(ImapFault::BrokeOff),
                };
            }
            Response::Data { status: Status::Bye, .. } if command != "LOGOUT" => {
                return Err(ImapFault::BrokeOff);
            }
            response => see(response),
        }
    }
}

fn unless_refused(fault: ImapFault) -> Result<(), ImapFault> {
    if fault.is_refusal() { Ok(()) } else { Err(fault) }
}

/// A folder's name as a quoted string.
fn quote(name: &str) -> String {
    in_quotes(&on_the_wire(name))
}

/// A text as a quoted string.
fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A time such as `17-Jul-2026 02:44:25 -0700`.
fn moment(date: &str) -> Option<i64> {
    let time = BrokenDownTime::parse("%d-%b-%Y %H:%M:%S %z", date.trim()).ok()?;
    Some(time.to_timestamp().ok()?.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_a_server_took_a_mail_is_read() {
        assert_eq!(moment("17-Jul-2026 02:44:25 -0700"), Some(1_784_281_465_000));
        assert_eq!(moment(" 1-Jan-1970 00:00:01 +0000"), Some(1_000));
        assert_eq!(moment("yesterday"), None);
    }

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        assert_eq!(quote(r#"a" b\"#), r#""a\" b\\""#);
        assert_eq!(quote("Müll\r\nx"), "\"M&APw-ll&AA0ACg-x\"");
    }
}
