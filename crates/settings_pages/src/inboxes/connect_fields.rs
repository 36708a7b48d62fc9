//! The fields of the form that connects a mailbox, and what its servers said.

use actions::inboxes::imap_accounts::FetchedInbox;
use actions::inboxes::mailbox_sign_in::SignInChoice;
use base::ids::UserId;
use model::mailboxes::Mailbox;
use translation::{sentence, t};
use transport::mailbox_setup::{ServerDiscovery, TriedMailbox};
use web::forms::form::form;

/// How much old mail is brought in unless something else is chosen.
pub const HISTORY_DAYS: i64 = 30;

form! {
    pub struct ConnectForm {
        address: String,
        password: String,
        name: String,
        private_to: Option<UserId>,
        history: String,
        /// The domain that the servers below were found for.
        found_for: String,
        imap_host: String,
        imap_port: Option<i64>,
        imap_security: String,
        smtp_host: String,
        smtp_port: Option<i64>,
        smtp_security: String,
        username: String,
        receive_only: bool,
        /// By Microsoft Graph instead of IMAP and SMTP.
        by_graph: bool,
        /// The form stood on the page of first steps.
        welcome: bool,
    }
}

/// The form as the page shows it. A password is never shown again.
pub struct ConnectFields {
    pub address: String,
    pub name: String,
    pub private_to: String,
    pub history: String,
    pub found_for: String,
    /// Where the servers were found.
    pub source: String,
    pub imap_host: String,
    pub imap_port: String,
    pub imap_security: String,
    pub smtp_host: String,
    pub smtp_port: String,
    pub smtp_security: String,
    pub username: String,
    pub receive_only: bool,
    pub by_graph: bool,
    /// The form stands on the page of first steps, or came from there.
    pub welcome: bool,
    pub address_error: String,
    pub password_error: String,
    pub name_error: String,
    /// Why nothing was tried.
    pub trouble: String,
}

impl Default for ConnectFields {
    fn default() -> ConnectFields {
        ConnectFields {
            address: String::new(),
            name: String::new(),
            private_to: String::new(),
            history: "days".into(),
            found_for: String::new(),
            source: String::new(),
            imap_host: String::new(),
            imap_port: "993".into(),
            imap_security: "tls".into(),
            smtp_host: String::new(),
            smtp_port: "465".into(),
            smtp_security: "tls".into(),
            username: String::new(),
            receive_only: false,
            by_graph: false,
            welcome: false,
            address_error: String::new(),
            password_error: String::new(),
            name_error: String::new(),
            trouble: String::new(),
        }
    }
}

impl ConnectFields {
    /// For an inbox that is there, fetched so far or not.
    pub fn of_inbox(inbox: &Mailbox, fetched: Option<&FetchedInbox>) -> ConnectFields {
        let mut fields = ConnectFields {
            address: inbox.address.to_string(),
            name: inbox.name.clone(),
            ..ConnectFields::default()
        };
        fields.by_graph = fetched.is_some_and(|fetched| fetched.by_graph);
        if let Some(fetched) = fetched.filter(|fetched| !fetched.by_graph) {
            fields.found_for = domain_of(&inbox.address);
            fields.imap_host = fetched.host.clone();
            fields.imap_port = fetched.port.to_string();
            fields.imap_security = fetched.security.as_str().to_owned();
            fields.username = fetched.username.clone();
            fields.source = t!("as it is set up now").into();
            fields.receive_only = true;
        }
        fields
    }

    pub fn from_form(form: &ConnectForm) -> ConnectFields {
        let port = |port: Option<i64>| port.map(|port| port.to_string()).unwrap_or_default();
        let name = form.private_to.as_ref().map(|id| id.to_string()).unwrap_or_default();
        let mut fields = ConnectFields {
            address: form.address.trim().to_owned(),
            name: form.name.clone(),
            private_to: name,
            history: form.history.clone(),
            found_for: form.found_for.clone(),
            receive_only: form.receive_only,
            by_graph: form.by_graph,
            welcome: form.welcome,
            ..ConnectFields::default()
        };
        if !form.imap_host.is_empty() || !form.smtp_host.is_empty() {
            fields.imap_host = form.imap_host.trim().to_owned();
            fields.imap_port = port(form.imap_port);
            fields.imap_security = form.imap_security.clone();
            fields.smtp_host = form.smtp_host.trim().to_owned();
            fields.smtp_port = port(form.smtp_port);
            fields.smtp_security = form.smtp_security.clone();
            fields.username = form.username.trim().to_owned();
            fields.source = t!("as you filled them in").into();
        }
        if fields.username.is_empty() {
            fields.username = fields.address.clone();
        }
        fields
    }

    /// What somebody chose before they left to sign in at a provider.
    pub fn from_choice(choice: &SignInChoice) -> ConnectFields {
        let private_to = choice.private_to.as_ref().map(|id| id.to_string()).unwrap_or_default();
        ConnectFields {
            address: choice.address.clone(),
            name: choice.name.clone(),
            private_to,
            history: choice.history.clone(),
            receive_only: choice.receive_only,
            by_graph: choice.by_graph,
            welcome: choice.welcome,
            ..ConnectFields::default()
        }
    }

    /// Fills in what was found for a domain.
    pub fn fill(&mut self, found: &ServerDiscovery, domain: &str) {
        self.found_for = domain.to_owned();
        self.source = sentence(found.source.words()).into_owned();
        self.username = found.username.clone();
        if let Some(incoming) = &found.incoming {
            self.imap_host = incoming.host.clone();
            self.imap_port = incoming.port.to_string();
            self.imap_security = incoming.security.as_str().to_owned();
        }
        if let Some(outgoing) = &found.outgoing {
            self.smtp_host = outgoing.host.clone();
            self.smtp_port = outgoing.port.to_string();
            self.smtp_security = outgoing.security.as_str().to_owned();
        }
    }

    pub fn is_wrong(&self) -> bool {
        let errors = [&self.address_error, &self.password_error, &self.name_error];
        errors.iter().any(|error| !error.is_empty())
    }

    /// True once there is something to look at and to change.
    pub fn shows_servers(&self) -> bool {
        !self.found_for.is_empty() || !self.imap_host.is_empty()
    }
}

fn domain_of(address: &str) -> String {
    address.rsplit_once('@').map(|(_, domain)| domain.to_owned()).unwrap_or_default()
}

/// How the servers did, as the page shows it.
pub struct TriedView {
    pub title: &'static str,
    pub sentences: Vec<String>,
    pub advice: Option<String>,
    pub incoming: ServerMark,
    pub outgoing: ServerMark,
}

/// A word beside a server.
pub struct ServerMark {
    pub class: &'static str,
    pub icon: &'static str,
    pub word: &'static str,
}

impl TriedView {
    /// How Microsoft Graph did.
    pub fn of_graph(tried: TriedMailbox) -> TriedView {
        let reason = tried.incoming.as_ref().err().map(|english| sentence(english).into_owned());
        let sentences = reason.into_iter().collect();
        TriedView { sentences, ..TriedView::of(tried) }
    }

    pub fn of(tried: TriedMailbox) -> TriedView {
        let mark = |works: bool| {
            if works {
                ServerMark { class: "ok", icon: "check", word: t!("works") }
            } else {
                ServerMark { class: "danger", icon: "fail", word: t!("does not work") }
            }
        };
        let (incoming, outgoing) = (mark(tried.incoming.is_ok()), mark(tried.outgoing.is_ok()));
        let said = |english: String| sentence(&english).into_owned();
        let incoming_error = tried
            .incoming
            .err()
            .map(|english| t!("Reading (IMAP): {sentence}", sentence = sentence(&english)));
        let outgoing_error = tried
            .outgoing
            .err()
            .map(|english| t!("Sending (SMTP): {sentence}", sentence = sentence(&english)));
        let title = if tried.refused {
            t!("The mailbox refused the password")
        } else {
            t!("The mailbox could not be reached")
        };
        TriedView {
            title,
            sentences: incoming_error.into_iter().chain(outgoing_error).collect(),
            advice: tried.advice.map(said),
            incoming,
            outgoing,
        }
    }
}
