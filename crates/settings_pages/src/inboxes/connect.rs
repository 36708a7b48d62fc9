//! Connecting a mailbox by address and password: its servers are found, tried out, and saved.

use std::sync::Arc;

use actions::inboxes::connect_mailbox::{self, NewConnection};
use actions::inboxes::imap_accounts::{self, FetchFrom, MailHistory};
use actions::inboxes::outgoing_servers::NewOutgoingServer;
use actions::inboxes::setup;
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::limits::{IMAP_WORD_CHARS, PERSON_NAME_CHARS};
use inbound::imap::{FetchProtocol, PostFetchAction, Security};
use model::mailboxes;
use model::mailboxes::mailbox_grants::{MailAuth, SignInProvider};
use model::mailboxes::outgoing_servers::SubmissionSecurity;
use translation::{t, text_in_context};
use transport::mailbox_setup::{
    IncomingServer, MailboxTrial, OutgoingServer, PasswordAccess, Provider, ServerDiscovery,
    TrialCredential,
};
use web::Web;
use web::forms::form::{Asked, PostedForm};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::inboxes::connect_fields::{ConnectFields, ConnectForm, TriedView};
use crate::inboxes::inbox::mailbox_id;
use crate::inboxes::plus_tags::begin_plus_tag_test;
use crate::inboxes::{address_rule, name_rule};
use crate::{SettingsPage, location};

/// The page of the form.
pub const CONNECT: &str = "/settings/inboxes/connect";

#[derive(Template)]
#[template(path = "settings_connect.html", whitespace = "minimize")]
pub struct ConnectPage {
    frame: PageLayout,
    /// People whose private inbox it may become.
    people: Vec<(String, String)>,
    fields: ConnectFields,
    /// Whom people can sign in with instead of giving a password.
    providers: Vec<SignInProvider>,
    /// How the servers did.
    pub tried: Option<TriedView>,
    /// The address belongs to an inbox that is there.
    known: bool,
}

/// The form, empty or for an inbox that is there.
pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let mut fields = ConnectFields::default();
    if let Some(id) = asked.opt("inbox") {
        let id = mailbox_id(&id)?;
        let (inbox, fetched) = web
            .read(&visitor, move |tx, cx, _| {
                cx.actor.must_administer()?;
                let inbox =
                    mailboxes::seen_by(tx, cx.actor, &id)?.ok_or(Error::NotFound("inbox"))?;
                let fetched = imap_accounts::list_fetched(tx, cx.actor)?;
                Ok((inbox, fetched.into_iter().find(|fetched| fetched.mailbox == id)))
            })
            .await?;
        fields = ConnectFields::of_inbox(&inbox, fetched.as_ref());
    }
    web.show(&visitor, &build(&web, &visitor, fields).await?)
}

pub async fn build(
    web: &Web,
    visitor: &Visitor,
    fields: ConnectFields,
) -> Result<ConnectPage, PageError> {
    let address = fields.address.trim().to_owned();
    let (frame, (people, known)) = web
        .page(visitor, location(SettingsPage::Inboxes), move |tx, cx, _| {
            cx.actor.must_administer()?;
            let known = mailboxes::find(tx, cx.actor, &address)?.is_some();
            Ok((setup::list_people(tx, cx)?, known))
        })
        .await?;
    let people = people.into_iter().map(|person| (person.id.to_string(), person.name)).collect();
    let providers = web.oauth_clients.providers();
    Ok(ConnectPage { frame, people, fields, providers, tried: None, known })
}

/// Finds the servers unless they were given, tries them out, and connects the mailbox if they work.
pub async fn connect(State(web): State<Arc<Web>>, posted: PostedForm<ConnectForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    // Only owners and admins can make the server call others.
    web.read(&visitor, |_, cx, _| cx.actor.must_administer()).await?;
    let mut fields = ConnectFields::from_form(&form);
    fields.check(&form);
    if fields.is_wrong() {
        return responses::again(&build(&web, &visitor, fields).await?);
    }
    let Ok(_place) = web.trials.try_acquire() else {
        fields.trouble =
            t!("Several mailboxes are being tried out already. Try again in a moment.").into();
        return responses::again(&build(&web, &visitor, fields).await?);
    };
    let address = mail::normal_address(form.address.trim());
    let domain = address.rsplit_once('@').map(|(_, domain)| domain.to_owned()).unwrap_or_default();
    let of_this = form.found_for.is_empty() || form.found_for == domain;
    let provider = if of_this && !form.imap_host.trim().is_empty() {
        fields.found_for = domain;
        web.mailbox_finder.provider_of(&address).await
    } else {
        let found = web.mailbox_finder.find(&address).await;
        fields.fill(&found, &domain);
        if let Some(trouble) = not_tried(&web, &found, &domain) {
            fields.trouble = trouble;
            return responses::again(&build(&web, &visitor, fields).await?);
        }
        found.provider
    };
    let trial = match fields.trial(&form, provider) {
        Ok(trial) => trial,
        Err(trouble) => {
            fields.trouble = trouble;
            return responses::again(&build(&web, &visitor, fields).await?);
        }
    };
    let tried = web.mailbox_finder.try_out(&trial).await;
    if !tried.works() {
        let page = build(&web, &visitor, fields).await?;
        return responses::again(&ConnectPage { tried: Some(TriedView::of(tried)), ..page });
    }
    save(&web, &visitor, new_connection(&form, &trial), form.welcome, fields).await
}

/// Why servers that were found are not tried with the password.
fn not_tried(web: &Web, found: &ServerDiscovery, domain: &str) -> Option<String> {
    let access = found.provider.map(|provider| (provider.name, provider.access));
    match access {
        Some((_, PasswordAccess::None(sentence))) => return Some(sentence.into()),
        Some((name, PasswordAccess::SignIn))
            if web.oauth_clients.of(SignInProvider::Microsoft).is_some() =>
        {
            return Some(t!(
                "{name} takes no passwords from mail programs any more. Press Sign in with \
                 Microsoft below. Nothing was sent there.",
                name
            ));
        }
        Some((name, PasswordAccess::SignIn)) => {
            return Some(t!(
                "{name} takes no passwords from mail programs any more: you sign in at {name} \
                 itself. Nothing was sent there.",
                name
            ));
        }
        _ => {}
    }
    if found.incoming.is_none() {
        return Some(t!(
            "No mail server was found for {domain}. Look them up at your provider and fill them in \
             below.",
            domain
        ));
    }
    found.needs_a_look(domain).then(|| {
        t!(
            "The DNS of {domain} names servers of another domain. See whether they are your \
             provider's before your password goes there, and enter it again.",
            domain
        )
    })
}

/// Connects a mailbox whose servers work.
pub async fn save(
    web: &Arc<Web>,
    visitor: &Visitor,
    new: NewConnection,
    welcome: bool,
    mut fields: ConnectFields,
) -> PageResult {
    let connected = web
        .act(visitor, move |tx, cx, me| {
            Ok((connect_mailbox::connect_mailbox(tx, cx, &new)?, me.actor.clone()))
        })
        .await;
    match connected.or_problems()? {
        Ok((id, actor)) => {
            let path = if welcome { "/welcome".into() } else { format!("/settings/inboxes/{id}") };
            begin_plus_tag_test(web, actor, id);
            web.redirect(&path, Flash::MailboxConnected)
        }
        Err(problems) => {
            for problem in problems.0 {
                match problem.field.as_str() {
                    "name" => fields.name_error = name_rule(),
                    _ => fields.address_error = address_rule(&problem.sentence),
                }
            }
            responses::again(&build(web, visitor, fields).await?)
        }
    }
}

fn new_connection(form: &ConnectForm, trial: &MailboxTrial) -> NewConnection {
    let address = mail::normal_address(form.address.trim());
    let local = address.split('@').next().unwrap_or_default().to_owned();
    let name = form.name.trim();
    NewConnection {
        name: if name.is_empty() { local } else { name.to_owned() },
        private_to: form.private_to.clone(),
        fetch: FetchFrom {
            protocol: FetchProtocol::Imap,
            host: trial.incoming.host.clone(),
            port: trial.incoming.port,
            security: trial.incoming.security,
            username: trial.username.clone(),
            auth: MailAuth::Password,
            sealed_password: form.password.clone(),
            folder: "INBOX".into(),
            after: PostFetchAction::Nothing,
            trusts: None,
            history: history(&form.history),
            by_operator: false,
        },
        grant: None,
        send: trial.outgoing.as_ref().map(|outgoing| NewOutgoingServer {
            host: outgoing.host.clone(),
            port: outgoing.port,
            security: outgoing.security,
            username: trial.username.clone(),
            password: form.password.clone(),
        }),
        address,
    }
}

pub fn history(choice: &str) -> MailHistory {
    match choice {
        "all" => MailHistory::Everything,
        "new" => MailHistory::Nothing,
        _ => MailHistory::Days(crate::inboxes::connect_fields::HISTORY_DAYS),
    }
}

impl ConnectFields {
    /// Says what is wrong with what was typed, before anything is called.
    fn check(&mut self, form: &ConnectForm) {
        self.check_address_and_name(form);
        let password = &form.password;
        let long = password.chars().count() > IMAP_WORD_CHARS;
        if password.is_empty() || long || password.chars().any(char::is_control) {
            self.password_error = t!(
                "Give the mailbox's password, of at most {most} characters.",
                most = IMAP_WORD_CHARS
            );
        }
    }

    /// The same where no password is needed.
    pub fn check_address_and_name(&mut self, form: &ConnectForm) {
        if !mail::is_address(form.address.trim()) || form.address.contains('+') {
            self.address_error = t!("Give a whole address such as support@example.com.").into();
        }
        if form.name.chars().count() > PERSON_NAME_CHARS {
            self.name_error = name_rule();
        }
    }

    /// The servers of the fields, ready to be tried; the error is a sentence.
    fn trial(
        &self,
        form: &ConnectForm,
        provider: Option<&'static Provider>,
    ) -> Result<MailboxTrial, String> {
        let port = |text: &str, what: &str| -> Result<u16, String> {
            let port = text.trim().parse().ok().filter(|port| *port > 0);
            port.ok_or_else(|| t!("The port for {what} must be a number from 1 to 65535.", what))
        };
        let reading = text_in_context("the server for", "reading");
        let sending = text_in_context("the server for", "sending");
        let incoming = IncomingServer {
            host: host(&self.imap_host, reading)?,
            port: port(&self.imap_port, reading)?,
            security: Security::parse(&self.imap_security).unwrap_or(Security::Tls),
        };
        let outgoing = if form.receive_only {
            None
        } else {
            Some(OutgoingServer {
                host: host(&self.smtp_host, sending)?,
                port: port(&self.smtp_port, sending)?,
                security: match SubmissionSecurity::parse(&self.smtp_security) {
                    Some(SubmissionSecurity::StartTls) => SubmissionSecurity::StartTls,
                    _ => SubmissionSecurity::Tls,
                },
            })
        };
        Ok(MailboxTrial {
            incoming,
            outgoing,
            username: self.username.trim().to_owned(),
            credential: TrialCredential::Password(form.password.clone()),
            provider,
        })
    }
}

fn host(text: &str, what: &str) -> Result<String, String> {
    let host = text.trim().trim_end_matches('.').to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-:".contains(c);
    let fits = !host.is_empty() && host.len() <= IMAP_WORD_CHARS && host.chars().all(plain);
    fits.then_some(host).ok_or_else(|| {
        t!("The server for {what} must be a name such as mail.example.com, or is missing.", what)
    })
}

/// Fetches no more mail into an inbox.
pub async fn disconnect(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let mailbox = mailbox_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| {
        connect_mailbox::disconnect_mailbox(tx, cx, &mailbox)
    })
    .await?;
    web.redirect(&format!("/settings/inboxes/{id}"), Flash::MailboxDisconnected)
}
