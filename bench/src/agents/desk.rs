//! The workspace that is attacked: customers whom the team knows, a server on it, and a key for every try.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use actions::integrations::{agent_policy, keys};
use base::actor::{self, Actor, Principal};
use base::app::{App, Cx};
use base::ids::AgentId;
use base::security::agent_policy::PolicyProfile;
use base::security::scopes::Scope;
use bookings::types::BookingTypeInput;
use db::Tx;
use test_dns::{DnsAnswer, DnsRecord, DnsServer};
use tokio::runtime::Runtime;

use super::goal::Brake;
use super::mail_text::attack_mail;
use crate::database::{self, DatabaseKind, Databases};
use crate::fill::workspace::{self, BenchDatabase, BenchWorkspace, INBOX, OWNER};
use crate::receive::SmtpSender;
use crate::requests::request;
use crate::server::{Server, free_address, serve};

/// Conversations of other customers.
pub const OTHERS: usize = 80;
/// Keys that are made in one transaction.
const KEYS_AT_ONCE: usize = 100;
/// All that was to leave has left by then.
const PATIENCE: Duration = Duration::from_secs(120);
const STEP: Duration = Duration::from_millis(50);

/// What a key that was taken over may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TakenKey {
    Draft,
    Send,
}

impl TakenKey {
    pub const ALL: [TakenKey; 2] = [TakenKey::Draft, TakenKey::Send];

    fn scopes(self) -> Vec<Scope> {
        let mut scopes = vec![Scope::Read, Scope::Write, Scope::Draft, Scope::Record];
        if self == TakenKey::Send {
            scopes.push(Scope::Send);
        }
        scopes
    }
}

/// A key, and the agent that it acts as.
#[derive(Clone)]
pub struct AttackKey {
    pub agent: AgentId,
    pub key: String,
}

/// A mail with a goal in it.
pub struct AttackMail {
    /// Its number is in its subject and its sender.
    pub number: usize,
    pub text: String,
    /// It comes from a customer whom the team has written to, and the mark that the mail was given is taken
    /// off, as if nobody had noticed. Any other comes from somebody new, and its mark counts.
    pub is_overlooked: bool,
}

/// The conversation that a mail with a goal began.
#[derive(Clone, Default)]
pub struct AttackedConversation {
    pub id: String,
    pub is_marked: bool,
}

pub struct AttackedDesk {
    pub url: String,
    pub workspace: BenchWorkspace,
    pub server: Server,
    pub booking_type: String,
    pub outbox: PathBuf,
    runtime: Runtime,
    app: App,
    owner: Actor,
    smtp: std::net::SocketAddr,
    _names: DnsServer,
    _place: BenchDatabase,
}

/// The sender of the mail of this number.
pub fn customer(number: usize, is_known: bool) -> String {
    let word = if is_known { "known" } else { "new" };
    format!("{word}{number}@customers.example")
}

impl AttackedDesk {
    pub fn start(
        databases: &Databases,
        kind: DatabaseKind,
        binary: &Path,
    ) -> Result<AttackedDesk, String> {
        let place = BenchDatabase::new(kind, databases.postgres(), "agents")?;
        let workspace = workspace::set(&place, OTHERS, Vec::new())?;
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        let app = workspace::app(workspace::open(&place.url)?, place.folder.path())?;
        let owner = runtime.block_on(owner(&app)).map_err(|error| error.to_string())?;
        let make = app.act(&owner, add_booking_type);
        let booking_type = runtime.block_on(make).map_err(|error| error.to_string())?;
        let names = DnsServer::start(|name| {
            let text = |text: &str| DnsAnswer::Records(vec![DnsRecord::Txt(text.to_owned())]);
            match name {
                "customers.example" => text("v=spf1 ip4:127.0.0.1 -all"),
                "_dmarc.customers.example" => text("v=DMARC1; p=reject"),
                _ => DnsAnswer::Nothing,
            }
        })?;
        let outbox = place.folder.path().join("outbox");
        fs::create_dir(&outbox).map_err(|error| error.to_string())?;
        let (http, smtp) = (free_address()?, free_address()?);
        let mut command = serve(binary, place.folder.path(), &place.url, http);
        command
            .env("MAILROOM_SMTP_LISTEN", smtp.to_string())
            .env("MAILROOM_DNS", names.address.to_string())
            .env("MAILROOM_RELAY", format!("file:{}", outbox.display()));
        let log = place.folder.path().join("server.log");
        let first = request(&workspace.live_key, "GET", "/me", "");
        let server =
            Server::start(&mut command, http, first.as_bytes(), &log).map_err(|error| {
                format!("{error}\n{}", fs::read_to_string(&log).unwrap_or_default())
            })?;
        Ok(AttackedDesk {
            url: place.url.clone(),
            workspace,
            server,
            booking_type,
            outbox,
            runtime,
            app,
            owner,
            smtp,
            _names: names,
            _place: place,
        })
    }

    /// So many keys with the limits that a new agent begins with.
    pub fn make_keys(&self, kind: TakenKey, count: usize) -> Result<Vec<AttackKey>, String> {
        let mut made = Vec::new();
        while made.len() < count {
            let more = KEYS_AT_ONCE.min(count - made.len());
            let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
                let scopes = kind.scopes();
                let make = |number: usize| {
                    let name = format!("Robo {number}");
                    keys::make_key_with(tx, cx, &name, &scopes, true, PolicyProfile::Agent)
                };
                (0..more).map(make).collect::<base::error::Result<Vec<_>>>()
            };
            let keys = self.runtime.block_on(self.app.act(&self.owner, work));
            let keys = keys.map_err(|error| error.to_string())?;
            made.extend(keys.into_iter().map(|made| AttackKey { agent: made.id, key: made.key }));
        }
        Ok(made)
    }

    /// Sends mails by SMTP; answers their conversations by number.
    pub fn receive(&self, mails: &[AttackMail]) -> Result<Vec<AttackedConversation>, String> {
        let mut sender = SmtpSender::connect(self.smtp)?;
        for mail in mails {
            let from = customer(mail.number, mail.is_overlooked);
            let bytes = attack_mail(&from, INBOX, &subject(mail), mail.number, &mail.text);
            sender.send_bytes(&from, INBOX, &bytes)?;
        }
        self.change("UPDATE contacts SET standing = 'trusted' WHERE email NOT LIKE 'new%'")?;
        let is_marked = |line: &str| !line.ends_with(" -");
        let mut found = vec![AttackedConversation::default(); mails.len()];
        let sql = "SELECT subject || ' ' || id || ' ' || coalesce(risk, '-') FROM conversations
                   WHERE subject LIKE 'Question %'";
        for line in database::texts(&self.url, sql)? {
            let words: Vec<&str> = line.split(' ').collect();
            let place = words.get(1).and_then(|number| number.parse::<usize>().ok());
            let slot = place.and_then(|place| mails.iter().position(|mail| mail.number == place));
            if let (Some(slot), Some(id)) =
                (slot, words.iter().find(|word| word.starts_with("cnv_")))
            {
                found[slot] =
                    AttackedConversation { id: (*id).to_owned(), is_marked: is_marked(&line) };
            }
        }
        match found.iter().position(|found| found.id.is_empty()) {
            Some(lost) => return Err(format!("mail {lost} began no conversation")),
            None => self.change(
                "UPDATE conversations SET risk = NULL, risk_reasons = '[]'
                 WHERE subject LIKE 'Question % overlooked'",
            )?,
        }
        Ok(found)
    }

    pub fn stop_agent(&self, agent: &AgentId, brake: Brake) -> Result<(), String> {
        let agent = agent.clone();
        let stop = move |tx: &mut Tx<'_>, cx: &Cx<'_>| match brake {
            Brake::Pause => agent_policy::pause_agent(tx, cx, &agent),
            Brake::Revoke => keys::revoke_key(tx, cx, &agent),
        };
        self.runtime.block_on(self.app.act(&self.owner, stop)).map_err(|error| error.to_string())
    }

    /// Ends every undo window, and waits until all that was to leave has left.
    pub fn let_leave(&self) -> Result<(), String> {
        self.change("UPDATE messages SET sends_at = 1 WHERE status = 'scheduled'")?;
        self.change("UPDATE bookings SET act_at = 1 WHERE act_at IS NOT NULL")?;
        let waiting = "SELECT id FROM messages WHERE status IN ('scheduled', 'sending')
                       UNION ALL SELECT id FROM bookings WHERE act_at IS NOT NULL";
        let begun = Instant::now();
        loop {
            let left = database::texts(&self.url, waiting)?;
            if left.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{} things did not leave", left.len()));
            }
            thread::sleep(STEP);
        }
    }

    fn change(&self, sql: &str) -> Result<(), String> {
        database::change(&self.url, sql, sql)
    }
}

fn subject(mail: &AttackMail) -> String {
    let rest = if mail.is_overlooked { "overlooked" } else { "asked" };
    format!("Question {} {rest}", mail.number)
}

async fn owner(app: &App) -> base::error::Result<Actor> {
    let spaces = app.store.read(actions::inboxes::setup::list_workspaces).await?;
    let ws = spaces.first().map_or(0, |one| one.ws);
    app.store.read(move |tx| actor::person(tx, ws, OWNER)).await
}

fn add_booking_type(tx: &mut Tx<'_>, cx: &Cx<'_>) -> base::error::Result<String> {
    let Principal::Person { id: host, .. } = cx.actor.who.clone() else {
        return Err(base::error::Error::NotFound("owner"));
    };
    actions::bookings::set_hours(tx, cx, &host, "UTC", "mon-sun 06:00-20:00")?;
    let input = BookingTypeInput {
        name: "First talk".into(),
        slug: "talk".into(),
        minutes: 15,
        place: "By telephone".into(),
        hosts: vec![host],
        ..BookingTypeInput::default()
    };
    Ok(actions::bookings::add_booking_type(tx, cx, &input)?.id.to_string())
}
