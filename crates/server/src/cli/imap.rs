//! Fetching an inbox's mail from a mailbox elsewhere, at the command line.

use std::io::Read;
use std::path::PathBuf;

use actions::inboxes::imap_accounts::{self, FetchFrom, FetchedInbox, MailHistory};
use base::actor::Actor;
use base::app::App;
use base::limits::IMAP_WORD_CHARS;
use clap::Args;
use inbound::imap::{FetchProtocol, ImapServer, PostFetchAction, Security};
use inbound::{RecipientInbox, find_inbox};
use model::mailboxes::mailbox_grants::MailAuth;
use node::vault::{Vault, imap_purpose};
use serde_json::json;
use transport::imap_client::{Dialer, ImapCredential, try_out};
use transport::net::host_guard::HostGuard;
use transport::net::http_client::system_roots;
use url::Url;

use super::command::{CommandResult, WorkspaceArgs, count_noun, print, sentence};
use crate::serve::net_config;
use crate::settings::Settings;

#[derive(Args)]
pub struct Imap {
    /// The inbox that the mail is for
    address: String,
    /// imaps://USER@HOST or imaps://USER@HOST:PORT, and imap://… for a server that starts TLS later
    #[arg(long, value_name = "URL", required_unless_present = "off")]
    server: Option<String>,
    /// The file that holds the user's password
    #[arg(long, value_name = "FILE", conflicts_with = "password_stdin")]
    password_file: Option<PathBuf>,
    /// Read the user's password from standard input
    #[arg(long)]
    password_stdin: bool,
    /// The folder that mail is fetched from
    #[arg(long, default_value = "INBOX")]
    folder: String,
    /// What is done there with a mail that was filed: nothing, seen, or move:FOLDER
    #[arg(long, default_value = "nothing", value_name = "WHAT")]
    after: String,
    /// Leave alone what is in the folder now
    #[arg(long)]
    new_only: bool,
    /// The name under which that server writes Authentication-Results [default: that of its provider]
    #[arg(long, value_name = "HOST")]
    trust: Option<String>,
    /// Do not call the server now to see whether it lets us in
    #[arg(long)]
    unchecked: bool,
    /// Fetch no more; what was fetched stays
    #[arg(long, conflicts_with_all = ["server", "password_file", "password_stdin"])]
    off: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl Imap {
    pub async fn run(self, settings: &Settings, app: &App) -> CommandResult {
        let operator = self.workspace.operator(app).await?;
        if self.off {
            self.stop(app, &operator).await
        } else {
            self.begin(settings, app, &operator).await
        }
    }

    async fn stop(self, app: &App, operator: &Actor) -> CommandResult {
        let address = self.address.clone();
        app.act(operator, move |tx, cx| imap_accounts::stop_fetching(tx, cx, &address))
            .await
            .map_err(sentence)?;
        print(self.workspace.output, &json!({ "ok": true }), "Its mail is fetched no more.");
        Ok(())
    }

    async fn begin(self, settings: &Settings, app: &App, operator: &Actor) -> CommandResult {
        let inbox = self.inbox(app, operator).await?;
        let (host, port, security, username) = server(self.server.as_deref().unwrap_or(""))?;
        let after = PostFetchAction::parse(&self.after)
            .ok_or("after: must be nothing, seen or move: and a folder".to_owned())?;
        let password = self.password()?;
        let vault = Vault::open(&settings.data, &app.ids)?;
        let sealed = vault.seal(&app.ids, &imap_purpose(&inbox.mailbox.address), &password);
        let server = ImapServer {
            host,
            port,
            security,
            username,
            folder: self.folder.clone(),
            by_operator: true,
        };
        let mails = if self.unchecked {
            None
        } else {
            let dialer = Dialer::new(system_roots(), HostGuard::of(&net_config(settings))?)?;
            let tried =
                try_out(&server, ImapCredential::Password(&password), &after, &dialer).await;
            Some(tried.map_err(|failure| failure.sentence)?)
        };
        let (own_address, host) = (inbox.mailbox.address.clone(), server.host.clone());
        let from = FetchFrom {
            protocol: FetchProtocol::Imap,
            host: server.host,
            port,
            security,
            username: server.username,
            auth: MailAuth::Password,
            sealed_password: sealed,
            folder: server.folder,
            after,
            trusts: self.trust.clone(),
            history: if self.new_only { MailHistory::Nothing } else { MailHistory::Everything },
            by_operator: true,
        };
        let address = self.address.clone();
        let id = app
            .act(operator, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, &address, &from))
            .await
            .map_err(sentence)?;
        let begins = match (mails, self.new_only) {
            (_, true) => " Mail that comes from now on is fetched.".to_owned(),
            (Some(1), false) => " 1 mail is there; it is fetched.".to_owned(),
            (Some(mails), false) => format!(" {mails} mails are there; all of them are fetched."),
            (None, false) => String::new(),
        };
        let said = format!(
            "Mail for {} is fetched from {} while `mailroom serve` runs.{begins}",
            own_address, host
        );
        print(self.workspace.output, &json!({ "id": id, "mails": mails }), &said);
        Ok(())
    }

    async fn inbox(&self, app: &App, operator: &Actor) -> Result<RecipientInbox, String> {
        let address = mail::normal_address(&self.address);
        let found = app.store.read(move |tx| find_inbox(tx, &address)).await.map_err(sentence)?;
        found
            .filter(|inbox| inbox.ws == operator.ws)
            .ok_or("address: is no inbox; add it first with `mailroom mailbox add`".to_owned())
    }

    fn password(&self) -> Result<String, String> {
        let text = match (&self.password_file, self.password_stdin) {
            (Some(path), _) => std::fs::read_to_string(path)
                .map_err(|error| format!("{}: {error}", path.display()))?,
            (None, true) => {
                let mut text = String::new();
                let most = 4 * IMAP_WORD_CHARS as u64 + 2;
                std::io::stdin()
                    .take(most)
                    .read_to_string(&mut text)
                    .map_err(|error| format!("the password cannot be read: {error}"))?;
                text
            }
            (None, false) => {
                return Err("Give the password with --password-file or --password-stdin.".into());
            }
        };
        let password = text.trim_end_matches(['\r', '\n']);
        let chars = password.chars().count();
        if !(1..=IMAP_WORD_CHARS).contains(&chars) || password.contains(['\r', '\n', '\0']) {
            return Err(format!(
                "The password must be one line of 1 to {IMAP_WORD_CHARS} characters."
            ));
        }
        Ok(password.to_owned())
    }
}

/// Host, port, security and user of an address such as `imaps://ann@imap.example.com`.
pub fn server(text: &str) -> Result<(String, u16, Security, String), String> {
    let wanted = "server: must be imaps://USER@HOST[:PORT] or imap://USER@HOST[:PORT]".to_owned();
    let url = Url::parse(text.trim()).map_err(|_| wanted.clone())?;
    let (security, usual) = match url.scheme() {
        "imaps" => (Security::Tls, 993),
        "imap" => (Security::StartTls, 143),
        _ => return Err(wanted),
    };
    if url.password().is_some() {
        return Err("server: must not hold the password; give it with --password-file".into());
    }
    let plain = url.query().is_none() && url.fragment().is_none() && url.path().len() <= 1;
    let host = url.host_str().filter(|host| plain && !host.is_empty()).ok_or(wanted.clone())?;
    let user = percent_decoded(url.username()).filter(|user| !user.is_empty()).ok_or(wanted)?;
    Ok((host.to_lowercase(), url.port().unwrap_or(usual), security, user))
}

fn percent_decoded(text: &str) -> Option<String> {
    let pair = format!("x={}", text.replace('+', "%2B"));
    let mut pairs = url::form_urlencoded::parse(pair.as_bytes());
    pairs.next().map(|(_, value)| value.into_owned()).filter(|value| !value.contains('\u{fffd}'))
}

/// How fetching goes, in one line for a list.
pub fn health(fetched: &FetchedInbox) -> String {
    let FetchedInbox { host, folder, fetched: count, .. } = fetched;
    let when = match &fetched.last_fetched_at {
        Some(at) => format!("last fetched {}", at.iso()),
        None => "not fetched yet".into(),
    };
    let state = match (&fetched.last_error, &fetched.failing_since) {
        (Some(error), Some(since)) => format!("FAILING since {}: {error}", since.iso()),
        _ => "ok".into(),
    };
    let skipped = match &fetched.last_skipped {
        Some(last) => format!("; {} passed over, the last: {last}", fetched.skipped),
        None => String::new(),
    };
    let signed_in = match (fetched.provider, fetched.sign_in_over) {
        (Some(provider), true) => format!(", SIGN IN AGAIN at {}", provider.name()),
        (Some(provider), false) => format!(", signed in at {}", provider.name()),
        (None, _) => String::new(),
    };
    let count = count_noun(*count, "mail", "mails");
    format!("    {folder} on {host}{signed_in}: {state}; {when}; {count}{skipped}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_an_address_with_a_user() {
        let parsed = |text| server(text).ok();
        let of = |host: &str, port, security, user: &str| {
            Some((host.to_owned(), port, security, user.to_owned()))
        };
        assert_eq!(
            parsed("imaps://ann@IMAP.example.com"),
            of("imap.example.com", 993, Security::Tls, "ann")
        );
        assert_eq!(
            parsed("imap://ann%40x.example@imap.example.com:1143/"),
            of("imap.example.com", 1143, Security::StartTls, "ann@x.example")
        );
        assert_eq!(
            parsed("imaps://ann+a@x.example@imap.example.com"),
            of("imap.example.com", 993, Security::Tls, "ann+a@x.example")
        );
        for bad in [
            "",
            "imap.example.com",
            "imaps://imap.example.com",
            "https://ann@imap.example.com",
            "imaps://ann:secret@imap.example.com",
            "imaps://ann@imap.example.com/INBOX",
        ] {
            assert!(server(bad).is_err(), "{bad}");
        }
    }
}
