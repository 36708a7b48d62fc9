//! Connecting a mailbox by signing in at its provider, against a provider of the test's own, Dovecot with
//! XOAUTH2 and a submission server that takes the provider's tokens.

use std::sync::Arc;

use actions::inboxes::imap_accounts::{self, FetchedInbox};
use inbound::imap;
use model::mailboxes::mailbox_grants::{GrantKey, SignInProvider};
use rustls::RootCertStore;
use testing::{Dovecot, OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET, OAuthProviderServer};
use transport::mail_oauth::{AccessTokens, MailboxTokens, OAuthClient, OAuthClients, TokenFailure};

use crate::mail_in::imap::fetchers_with;
use crate::mail_out::peer::{Manner, Peer};
use crate::support::*;
use crate::web::browser::Browser;
use crate::webhooks::receiver::Authority;

on_both!(
    a_mailbox_is_connected_by_signing_in_and_its_mail_is_fetched_and_sent,
    an_existing_inbox_is_connected_with_the_address_that_was_typed,
    an_account_is_not_connected_to_an_address_that_is_not_its_own,
    a_shared_mailbox_is_connected_under_its_own_address,
    a_state_opens_for_the_session_that_made_it_and_for_a_while_only,
    what_goes_wrong_at_the_provider_is_a_sentence_and_connects_nothing,
    servers_that_do_not_take_the_token_are_told,
    a_token_is_refreshed_before_it_expires_and_once_for_all_who_ask,
    a_token_that_the_server_refuses_is_refreshed_at_once,
    a_provider_that_is_down_is_asked_again_later,
    a_withdrawn_permission_ends_fetching_until_somebody_signs_in_again,
    another_account_does_not_take_over_an_inbox,
    tokens_are_sealed_and_go_with_what_uses_them,
    members_sign_in_nowhere_and_see_no_button
);

const BEGIN: &str = "/settings/inboxes/connect/google";
const BEGIN_MICROSOFT: &str = "/settings/inboxes/connect/microsoft";
const ACCOUNT: &str = "ann@acme.example";
const SUPPORT: &str = "support@acme.example";

/// A provider with a mailbox at Dovecot and a submission server.
struct World {
    provider: Arc<OAuthProviderServer>,
    dovecot: Dovecot,
    submission: Peer,
    roots: RootCertStore,
    clients: OAuthClients,
}

impl World {
    async fn start() -> World {
        let provider = Arc::new(OAuthProviderServer::start(ACCOUNT));
        let dovecot = Dovecot::with_tokens(provider.token_info());
        let authority = Authority::new();
        let submission = Peer::start(Manner {
            tls: Some(authority.acceptor("localhost", &[], |_| {})),
            implicit: true,
            offers: vec!["AUTH PLAIN XOAUTH2"],
            tokens: Some(Arc::clone(&provider)),
            mails_each: Some(1),
            ..Manner::default()
        })
        .await;
        let mut roots = authority.roots();
        roots.roots.extend(dovecot.roots.roots.clone());
        let endpoints = provider.endpoints(dovecot.tls_port, submission.address.port());
        let (id, secret) = (OAUTH_CLIENT_ID.to_owned(), Some(OAUTH_CLIENT_SECRET.to_owned()));
        let google = OAuthClient::google(id.clone(), secret.clone()).with_endpoints(&endpoints);
        let microsoft = OAuthClient::microsoft(id, secret, "common").unwrap();
        let microsoft = microsoft.with_endpoints(&endpoints);
        let clients = OAuthClients::new(vec![google.unwrap(), microsoft.unwrap()]);
        World { provider, dovecot, submission, roots, clients }
    }

    fn of(&self, app: TestApp) -> TestApp {
        app.with_providers(self.roots.clone(), self.clients.clone())
    }

    fn tokens(&self, app: &base::app::App) -> MailboxTokens {
        MailboxTokens::new(app.clone(), self.clients.clone()).unwrap()
    }

    /// One round of fetching.
    async fn fetch(&self, app: &TestApp) {
        let tokens = Arc::new(self.tokens(&app.app));
        fetchers_with(app, self.roots.clone(), tokens).fetch_due().await.unwrap();
    }

    /// Presses the button, signs in at the provider, and comes back.
    async fn sign_in(
        &self,
        browser: &Browser<'_>,
        path: &str,
        fields: &[(&str, &str)],
    ) -> crate::web::browser::Page {
        browser.get(&self.callback(browser, path, fields).await).await
    }

    /// The same up to where the provider sends the browser back to.
    async fn callback(&self, browser: &Browser<'_>, path: &str, fields: &[(&str, &str)]) -> String {
        let leaving = browser.post(path, fields).await.is(200);
        let back = self.provider.sign_in(&way_out(&leaving.text));
        back.strip_prefix(PUBLIC_URL).expect("our own address").to_owned()
    }
}

/// The address that the page goes on to by itself, which is that of its link too.
pub fn way_out(page: &str) -> String {
    let (_, rest) = page.split_once("content=\"0;url=").expect("a page that goes on by itself");
    let url = rest.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
    assert!(page.matches(rest.split('"').next().unwrap()).count() >= 2, "there is a link too");
    url
}

async fn health(app: &TestApp) -> FetchedInbox {
    let mut all = app.act(&app.owner, |tx, cx| imap_accounts::list_fetched(tx, cx.actor)).await;
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn key_of(app: &TestApp) -> GrantKey {
    GrantKey { ws: app.owner.ws, mailbox: app.support.id.to_string() }
}

/// The support inbox, connected with an account of its own.
async fn connected(app: TestApp, world: &World) -> TestApp {
    let app = world.of(app);
    world.provider.state().account = SUPPORT.into();
    let owner = app.signed_in(&app.owner).await;
    let fields = [("address", SUPPORT), ("history", "all")];
    world.sign_in(&owner, BEGIN, &fields).await.is(303);
    // The test mail of its plus tags.
    app.app.background.finish().await;
    drop(owner);
    app
}

async fn a_mailbox_is_connected_by_signing_in_and_its_mail_is_fetched_and_sent(app: TestApp) {
    let world = World::start().await;
    world.dovecot.deliver(&letter_to(ACCOUNT, "Lamp"));
    let app = world.of(app);
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get("/settings/inboxes/connect").await.is(200);
    page.shows("Sign in with Google").shows("Sign in with Microsoft");
    page.shows("formaction=\"/settings/inboxes/connect/google\" formnovalidate");
    let fields = [("address", ""), ("name", "Ann"), ("history", "all"), ("password", "")];
    let done = world.sign_in(&owner, BEGIN, &fields).await.is(303);
    let path = done.answer.header("location").to_owned();
    let page = owner.get(&path).await.is(200);
    page.shows("Connected. Its mail is being fetched now.").shows(ACCOUNT);
    page.shows("signed in at Google").shows("through <code>localhost</code>");
    let key = app.key("read").await;
    world.fetch(&app).await;
    assert!(health(&app).await.ok, "{:?}", health(&app).await);
    assert_eq!(app.subjects(&key, "").await, ["Lamp"]);
    let page = owner.post(&format!("{path}/test-mail"), &[]).await.is(200);
    page.shows("A test mail to owner@acme.example was accepted");
    app.app.background.finish().await;
    let sent = world.submission.seen().mails;
    let to: Vec<&str> = sent.iter().map(|mail| mail.to[0].as_str()).collect();
    assert_eq!(to.len(), 2, "{to:?}");
    assert!(to.iter().any(|to| to.starts_with("RCPT TO:<ann+")), "a test of plus tags: {to:?}");
    assert_eq!(world.provider.state().refreshes, 0, "the token was good");
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("connected the mailbox <strong>ann@acme.example</strong>")
        .shows("signed in at Google");
}

async fn an_existing_inbox_is_connected_with_the_address_that_was_typed(app: TestApp) {
    let world = World::start().await;
    let app = connected(app, &world).await;
    let listed = health(&app).await;
    assert_eq!(
        (listed.username.as_str(), listed.provider),
        (SUPPORT, Some(SignInProvider::Google))
    );
    assert_eq!(listed.mailbox, app.support.id);
    let owner = app.signed_in(&app.owner).await;
    let fields = [("address", SUPPORT), ("welcome", "1")];
    let done = world.sign_in(&owner, BEGIN_MICROSOFT, &fields).await;
    done.goes_to("/welcome");
    let listed = health(&app).await;
    assert_eq!(
        (listed.username.as_str(), listed.provider),
        (SUPPORT, Some(SignInProvider::Microsoft))
    );
    owner.get("/settings/outgoing").await.is(200);
    owner.post(BEGIN, &[("address", "nonsense")]).await.is(422).shows("Give a whole address");
    owner.post("/settings/inboxes/connect/nobody", &[]).await.is(404);
}

async fn an_account_is_not_connected_to_an_address_that_is_not_its_own(app: TestApp) {
    let world = World::start().await;
    world.dovecot.deliver(&letter_to(ACCOUNT, "Private"));
    let app = world.of(app);
    let owner = app.signed_in(&app.owner).await;
    let fields = [("address", SUPPORT), ("history", "all")];
    for (begin, name, right) in [
        (BEGIN, "Google", "Sign in with the account support@acme.example."),
        (BEGIN_MICROSOFT, "Microsoft", "or with one that has full access to it."),
    ] {
        let page = world.sign_in(&owner, begin, &fields).await.is(422);
        page.shows(&format!("You signed in at {name} as {ACCOUNT}, which is not {SUPPORT}"));
        page.shows(right).shows(&format!("put {ACCOUNT} in as the address"));
        page.shows("value=\"support@acme.example\"");
        let fetched = app.act(&app.owner, |tx, cx| imap_accounts::list_fetched(tx, cx.actor)).await;
        assert!(fetched.is_empty(), "nothing was connected by {name}");
    }
    world.fetch(&app).await;
    let key = app.key("read").await;
    assert!(app.subjects(&key, "").await.is_empty(), "the mail of the account stays its own");
    let fields = [("address", "Ann@Acme.example"), ("history", "all")];
    world.sign_in(&owner, BEGIN, &fields).await.is(303);
    assert_eq!(health(&app).await.username, ACCOUNT);
}

async fn a_shared_mailbox_is_connected_under_its_own_address(app: TestApp) {
    let world = World::start().await;
    // Dovecot compares what stands before the @ alone, so it lets this account into the mailbox.
    let account = "support@staff.example";
    world.provider.state().account = account.into();
    let app = world.of(app);
    let owner = app.signed_in(&app.owner).await;
    let fields = [("address", SUPPORT), ("history", "all")];
    let page = world.sign_in(&owner, BEGIN, &fields).await.is(422);
    page.shows(&format!("You signed in at Google as {account}"));
    world.sign_in(&owner, BEGIN_MICROSOFT, &fields).await.is(303);
    let listed = health(&app).await;
    assert_eq!((listed.username.as_str(), listed.mailbox), (SUPPORT, app.support.id.clone()));
    world.fetch(&app).await;
    assert!(health(&app).await.ok, "{:?}", health(&app).await);
    world.submission.behaves(Manner::default());
    let page = world.sign_in(&owner, BEGIN_MICROSOFT, &fields).await.is(422);
    page.shows("The mailbox could not be reached").hides("You signed in at Microsoft as");
}

async fn a_state_opens_for_the_session_that_made_it_and_for_a_while_only(app: TestApp) {
    let world = World::start().await;
    let app = world.of(app);
    let owner = app.signed_in(&app.owner).await;
    let back = world.callback(&owner, BEGIN, &[]).await;
    let elsewhere = app.signed_in(&app.owner).await;
    let page = elsewhere.get(&back).await.is(422);
    page.shows("begun in another browser or session");
    let stranger = app.browser();
    let asked = stranger.get(&back).await.is(303);
    let location = asked.answer.header("location").to_owned();
    assert!(location.starts_with("/sign-in?next=") && !location.contains("code"), "{location}");
    let changed = back.replacen("state=v1", "state=v2", 1);
    owner.get(&changed).await.is(422).shows("begun in another browser or session");
    app.advance(16 * MINUTE);
    owner.get(&back).await.is(422).shows("or too long ago");
    app.act(&app.owner, |tx, cx| imap_accounts::list_fetched(tx, cx.actor))
        .await
        .is_empty()
        .then_some(())
        .expect("nothing was connected");
    let back = world.callback(&owner, BEGIN, &[]).await;
    owner.get(&back).await.is(303);
    let again = owner.get(&back).await.is(422);
    again.shows("Google does not accept this sign-in any more");
}

async fn what_goes_wrong_at_the_provider_is_a_sentence_and_connects_nothing(app: TestApp) {
    let world = World::start().await;
    let app = world.of(app);
    let owner = app.signed_in(&app.owner).await;
    let fields = [("address", "desk@acme.example"), ("name", "Desk")];
    for (error, sentence) in [
        ("access_denied", "it was not allowed at Google"),
        ("server_error", "Google cannot answer at the moment"),
        ("odd_<b>one", "Google refused the sign-in (odd_bone)"),
    ] {
        let back = world.callback(&owner, BEGIN, &fields).await;
        let (_, state) = back.split_once("state=").unwrap();
        let error = error.replace('<', "%3C").replace('>', "%3E");
        let path = format!("/settings/inboxes/connect/callback?error={error}&state={state}");
        let page = owner.get(&path).await.is(422);
        page.shows("Not connected yet").shows(sentence).shows("value=\"desk@acme.example\"");
    }
    world.provider.state().scope = Some("openid email".into());
    let page = world.sign_in(&owner, BEGIN, &fields).await.is(422);
    page.shows("tick every box that Google shows");
    world.provider.state().scope = None;
    world.provider.state().is_down = true;
    let page = world.sign_in(&owner, BEGIN, &fields).await.is(422);
    page.shows("Google cannot answer at the moment");
    owner.get("/settings/inboxes").await.is(200).hides("desk@acme.example");
}

async fn servers_that_do_not_take_the_token_are_told(app: TestApp) {
    let world = World::start().await;
    let app = world.of(app);
    let owner = app.signed_in(&app.owner).await;
    let back = world.callback(&owner, BEGIN, &[]).await;
    world.submission.behaves(Manner::default());
    let page = owner.get(&back).await.is(422);
    page.shows("The mailbox could not be reached").shows("localhost");
    world.provider.state().account = "bo@acme.example".into();
    let back = world.callback(&owner, BEGIN, &[("receive_only", "1")]).await;
    // Dovecot has a mailbox for everybody, so the token itself has to be the wrong one.
    let dovecot = Dovecot::start();
    let endpoints = world.provider.endpoints(dovecot.tls_port, 1);
    let secret = Some(OAUTH_CLIENT_SECRET.to_owned());
    let client = OAuthClient::google(OAUTH_CLIENT_ID.into(), secret).with_endpoints(&endpoints);
    let app2 = app.with_providers(dovecot.roots.clone(), OAuthClients::new(vec![client.unwrap()]));
    let owner = app2.signed_in(&app2.owner).await;
    let _ = back;
    let page = world.sign_in(&owner, BEGIN, &[("receive_only", "1")]).await.is(422);
    page.shows("does not let the user bo@acme.example in by this sign-in");
}

async fn a_token_is_refreshed_before_it_expires_and_once_for_all_who_ask(app: TestApp) {
    let world = World::start().await;
    let app = connected(app, &world).await;
    let key = key_of(&app);
    let here = world.tokens(&app.app);
    let first = here.token(&key, None).await.unwrap();
    assert_eq!(first, world.provider.secrets()[0]);
    for round in 1..=3 {
        app.advance(56 * MINUTE);
        let there = match app.app.store.is_shared() {
            true => world.tokens(&app.on_another_node()),
            false => here.clone(),
        };
        let all = (0..8).map(|n| {
            let (tokens, key) =
                (if n % 2 == 0 { here.clone() } else { there.clone() }, key.clone());
            tokio::spawn(async move { tokens.token(&key, None).await.unwrap() })
        });
        let mut given = Vec::new();
        for task in all.collect::<Vec<_>>() {
            given.push(task.await.unwrap());
        }
        given.dedup();
        assert_eq!(given, [world.provider.secrets()[0].clone()]);
        assert_eq!(world.provider.state().refreshes, round, "one refresh for all");
    }
    assert_eq!(world.provider.state().reused, 0, "no replaced refresh token was lost");
}

async fn a_token_that_the_server_refuses_is_refreshed_at_once(app: TestApp) {
    let world = World::start().await;
    let app = connected(app, &world).await;
    let owner = app.signed_in(&app.owner).await;
    world.provider.forget_access_token();
    world.fetch(&app).await;
    assert!(health(&app).await.ok, "{:?}", health(&app).await);
    assert_eq!(world.provider.state().refreshes, 1);
    world.provider.forget_access_token();
    let path = format!("/settings/inboxes/{}/test-mail", app.support.id);
    owner.post(&path, &[]).await.is(200).shows("was accepted");
    assert_eq!(world.provider.state().refreshes, 2);
}

async fn a_provider_that_is_down_is_asked_again_later(app: TestApp) {
    let world = World::start().await;
    let app = connected(app, &world).await;
    app.advance(2 * HOUR);
    world.provider.state().is_down = true;
    world.fetch(&app).await;
    let listed = health(&app).await;
    let error = listed.last_error.unwrap();
    assert!(error.starts_with("Google cannot answer at the moment"), "{error}");
    assert!(!listed.sign_in_over && listed.next_attempt_at.is_some());
    world.provider.state().is_down = false;
    app.advance(MINUTE);
    world.fetch(&app).await;
    assert!(health(&app).await.ok, "{:?}", health(&app).await);
}

async fn a_withdrawn_permission_ends_fetching_until_somebody_signs_in_again(app: TestApp) {
    let world = World::start().await;
    let app = connected(app, &world).await;
    let owner = app.signed_in(&app.owner).await;
    app.advance(2 * HOUR);
    world.provider.state().withdrawn = true;
    world.fetch(&app).await;
    let listed = health(&app).await;
    assert!(listed.sign_in_over && !listed.ok && listed.next_attempt_at.is_none());
    let next = app.app.store.read(imap::next_due).await.unwrap().unwrap();
    assert!(next > app.now() + 365 * DAY, "it is not tried again by itself");
    let path = format!("/settings/inboxes/{}", app.support.id);
    let page = owner.get(&path).await.is(200);
    page.shows("Sign in again").shows("Sign in again with Google");
    page.shows("Google does not let Mailroom into this mailbox any more");
    let failed = world.tokens(&app.app).token(&key_of(&app), None).await;
    assert_eq!(failed, Err(TokenFailure::SignInOver(SignInProvider::Google)));
    app.work().await;
    let told = app.outside.relay.attempts();
    let told: Vec<String> =
        told.iter().map(|mail| String::from_utf8_lossy(&mail.bytes).into_owned()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("Subject: Sign in again for support@acme.example"), "{}", told[0]);
    let page = owner.post(&format!("{path}/test-mail"), &[]).await.is(200);
    page.shows("could not be sent now").shows("Somebody has to sign in again");

    let begin = format!("{path}/sign-in");
    world.sign_in(&owner, &begin, &[]).await.goes_to(&path);
    owner.get(&path).await.is(200).shows("Signed in. Its mail is being fetched and sent again.");
    world.fetch(&app).await;
    assert!(health(&app).await.ok, "{:?}", health(&app).await);
    owner.post(&format!("{path}/test-mail"), &[]).await.is(200).shows("was accepted");
}

async fn another_account_does_not_take_over_an_inbox(app: TestApp) {
    let world = World::start().await;
    let app = connected(app, &world).await;
    let owner = app.signed_in(&app.owner).await;
    let begin = format!("/settings/inboxes/{}/sign-in", app.support.id);
    world.provider.state().account = "bo@acme.example".into();
    let page = world.sign_in(&owner, &begin, &[]).await.is(422);
    page.shows("belongs to support@acme.example, and you signed in as bo@acme.example");
    let plain = app.team_inbox("plain@acme.example", "Plain").await;
    owner.post(&format!("/settings/inboxes/{}/sign-in", plain.id), &[]).await.is(404);
}

async fn tokens_are_sealed_and_go_with_what_uses_them(app: TestApp) {
    let world = World::start().await;
    let app = connected(app, &world).await;
    let grants = async || {
        let rows = app.app.store.read(|tx| {
            let rows: Vec<(String, String)> =
                tx.all("SELECT refresh_token, access_token FROM mailbox_grants", &[])?;
            Ok::<_, base::error::Error>(rows)
        });
        rows.await.unwrap()
    };
    let kept = grants().await;
    assert_eq!(kept.len(), 1);
    let [access, refresh] = world.provider.secrets();
    assert!(kept[0].0.starts_with("v1.") && !kept[0].0.contains(&refresh));
    assert!(kept[0].1.starts_with("v1.") && !kept[0].1.contains(&access));
    let owner = app.signed_in(&app.owner).await;
    let path = format!("/settings/inboxes/{}", app.support.id);
    owner.post(&format!("{path}/disconnect"), &[]).await.is(303);
    assert_eq!(grants().await.len(), 1, "mail still leaves by it");
    owner.post(&format!("{path}/outgoing/remove"), &[]).await.is(303);
    assert_eq!(grants().await.len(), 0);
}

async fn members_sign_in_nowhere_and_see_no_button(app: TestApp) {
    let world = World::start().await;
    let app = world.of(app);
    let bo = app.person("Bo").await;
    let private = app.private_inbox(&bo).await;
    let member = app.signed_in(&bo).await;
    member.post(BEGIN, &[]).await.is(403);
    member.get("/settings/inboxes/connect/callback?state=x&code=y").await.is(403);
    member.post(&format!("/settings/inboxes/{}/sign-in", app.support.id), &[]).await.is(403);
    let owner = app.signed_in(&app.owner).await;
    owner.post(&format!("/settings/inboxes/{}/sign-in", private.id), &[]).await.is(404);
    drop((member, owner));
    let without = app.with_mail();
    let owner = without.signed_in(&without.owner).await;
    owner.get("/settings/inboxes/connect").await.is(200).hides("Sign in with");
    owner.post(BEGIN, &[]).await.is(404);
}

fn letter_to(address: &str, subject: &str) -> String {
    format!(
        "From: Bruno <bruno@keller.example>\r\nTo: {address}\r\nSubject: {subject}\r\n\
         Message-ID: <{subject}@keller.example>\r\n\r\nIt is broken.\r\n"
    )
}
