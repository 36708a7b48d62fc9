//! Signing in at the operator's OpenID provider: who is let in, how accounts are linked, and what stays as it
//! is: second steps, where somebody was going, removed people.

mod attacks;
mod provider;
mod sign_out;

use actions::sign_in::provider_accounts;
use actions::sign_in::provider_rules::LocalSignInPolicy;
use base::actor::Role;
use base::security::totp::TotpSecret;
use serde_json::{Value, json};
use transport::oidc::{OidcConfig, ProviderSecondStep};

use self::provider::ScriptedProvider;
use super::sign_in::mailed_links;
use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    an_invited_person_signs_in_and_the_account_is_linked_from_then_on,
    somebody_who_signed_in_before_links_the_account_in_a_session,
    an_operator_who_trusts_the_addresses_has_accounts_linked_by_them,
    an_account_is_known_by_its_subject_and_never_by_a_changed_address,
    unknown_people_join_only_where_the_operator_says_so,
    a_removed_person_does_not_come_back_by_the_provider,
    only_addresses_of_the_operators_domains_sign_in,
    an_address_in_the_userinfo_counts_for_the_same_subject,
    the_second_step_is_asked_for_unless_the_provider_does_it,
    two_steps_for_everybody_hold_after_the_provider_too,
    where_only_the_provider_signs_in_owners_have_the_other_ways,
    people_who_are_added_are_told_to_use_the_provider,
    an_account_is_unlinked_by_its_person_and_by_a_reset,
    the_answer_may_reach_another_node,
    what_is_going_on_is_mailed_and_written_down,
    without_a_provider_there_is_no_button
);

pub(super) const BEGIN: &str = "/sign-in/provider";
pub(super) const CALLBACK: &str = "/sign-in/provider/callback";

/// A provider, and an installation whose operator changed the settings in this way.
pub(super) fn with_provider(
    app: TestApp,
    change: impl FnOnce(&mut OidcConfig),
) -> (ScriptedProvider, TestApp) {
    let provider = ScriptedProvider::start(app.now());
    let mut config = provider.config();
    change(&mut config);
    (provider, app.with_sign_in_provider(config))
}

/// The address that a page goes on to by itself, which is that of its link too.
pub(super) fn way_out(page: &Page) -> String {
    let written = page.between("content=\"0;url=", "\"");
    assert!(page.text.matches(written).count() >= 2, "there is a link too");
    written.replace("&#38;", "&").replace("&amp;", "&")
}

/// Presses the button; the path that the provider sends the browser back to.
pub(super) async fn leave(
    provider: &ScriptedProvider,
    browser: &Browser<'_>,
    next: &str,
) -> String {
    let leaving = browser.post(BEGIN, &[("next", next)]).await.is(200);
    provider.sign_in(&way_out(&leaving), PUBLIC_URL)
}

/// Presses the button, signs in at the provider, and comes back.
pub(super) async fn sign_in(provider: &ScriptedProvider, browser: &Browser<'_>) -> Page {
    let back = leave(provider, browser, "/").await;
    browser.get(&back).await
}

pub(super) async fn is_signed_in(browser: &Browser<'_>) -> bool {
    browser.get("/settings/you").await.status == 200
}

/// Links the account of whoever is signed in.
async fn link(provider: &ScriptedProvider, browser: &Browser<'_>) -> Page {
    let leaving = browser.post("/settings/sign-in/provider", &[]).await.is(200);
    let back = provider.sign_in(&way_out(&leaving), PUBLIC_URL);
    browser.get(&back).await
}

fn claims(email: &str) -> Value {
    json!({ "email": email, "email_verified": true })
}

async fn an_invited_person_signs_in_and_the_account_is_linked_from_then_on(app: TestApp) {
    let (provider, app) = with_provider(app, |_| ());
    app.person_with("Mia", Role::Member).await;
    provider.is("mia-1", claims("Mia@Acme.example"));
    let browser = app.browser();
    let page = browser.get("/sign-in").await.is(200);
    page.shows("Sign in with Acme Login").shows("E-mail me a link");
    let back = leave(&provider, &browser, "/authorize?client_id=x&state=1").await;
    let done = browser.get(&back).await;
    assert_eq!(done.answer.header("cross-origin-opener-policy"), "unsafe-none");
    done.goes_to("/authorize?client_id=x&state=1");
    assert!(is_signed_in(&browser).await);
    let own = browser.get("/settings/sign-in").await.is(200);
    own.shows("mia@acme.example</strong>").shows("Unlink it");
    browser.get("/settings/you").await.is(200).hides("Private inboxes are shut");

    let owner = app.signed_in(&app.owner).await;
    let account = "<small>Acme Login: mia@acme.example</small>";
    owner.get("/settings/people").await.is(200).shows(account);
    browser.get("/settings/people").await.is(200).hides(account);
    let other = app.browser();
    sign_in(&provider, &other).await.goes_to("/");
    assert!(is_signed_in(&other).await);
    let asked = provider.script().asked.clone();
    assert_eq!((asked["/.well-known/openid-configuration"], asked["/keys"]), (1, 1));
    app.advance(61 * MINUTE);
    provider.script().now = app.now();
    sign_in(&provider, &app.browser()).await.goes_to("/");
    assert_eq!(provider.script().asked["/keys"], 2, "documents are read again after an hour");
}

async fn somebody_who_signed_in_before_links_the_account_in_a_session(app: TestApp) {
    let (provider, app) = with_provider(app, |_| ());
    let owner = app.signed_in(&app.owner).await;
    let stranger = app.browser();
    let refused = sign_in(&provider, &stranger).await.is(422);
    refused.shows("is not linked yet. Sign in as before, and link it under Settings");
    assert!(!is_signed_in(&stranger).await);

    let new = [("new", "correct horse battery")];
    owner.post("/settings/you/password", &new).await.goes_to("/settings/you");
    let path = "/settings/sign-in/provider";
    owner.post(path, &[]).await.is(422).shows("That is not your password.");
    let leaving = owner.post(path, &[("password", new[0].1)]).await.is(200);
    let back = provider.sign_in(&way_out(&leaving), PUBLIC_URL);
    let elsewhere = app.browser();
    elsewhere.get(&back).await.is(422).shows("begun in another browser");
    owner.get(&back).await.goes_to("/settings/sign-in");
    owner.get("/settings/sign-in").await.is(200).shows("Linked. You can sign in with it");
    sign_in(&provider, &stranger).await.goes_to("/");
    assert!(is_signed_in(&stranger).await);

    // The account is hers: nobody else links it, and she links no second one.
    let sam = app.signed_in(&app.person("Sam").await).await;
    link(&provider, &sam).await.is(422).shows("signs in somebody else already");
    provider.is("owner-2", claims("owner@acme.example"));
    let leaving = owner.post(path, &[("password", new[0].1)]).await.is(200);
    let back = provider.sign_in(&way_out(&leaving), PUBLIC_URL);
    owner.get(&back).await.is(422).shows("You have linked an account at Acme Login already");
}

async fn an_operator_who_trusts_the_addresses_has_accounts_linked_by_them(app: TestApp) {
    let (provider, app) = with_provider(app, |config| config.rules.trusts_email = true);
    app.signed_in(&app.owner).await;
    let unsaid = json!({ "email": "owner@acme.example" });
    for (claims, is_linked) in [
        (json!({ "email": "owner@acme.example", "email_verified": false }), false),
        (json!({ "email": "owner@acme.example", "email_verified": "false" }), false),
        (json!({}), false),
        (unsaid, true),
    ] {
        provider.is("owner-1", claims);
        let browser = app.browser();
        let page = sign_in(&provider, &browser).await;
        assert_eq!(page.status == 303, is_linked, "{}", page.text);
        assert_eq!(is_signed_in(&browser).await, is_linked);
    }
}

async fn an_account_is_known_by_its_subject_and_never_by_a_changed_address(app: TestApp) {
    let (provider, app) = with_provider(app, |config| config.rules.trusts_email = true);
    let mia = app.person_with("Mia", Role::Member).await;
    provider.is("mia-1", claims("mia@acme.example"));
    sign_in(&provider, &app.browser()).await.goes_to("/");

    // Mia's address at the provider becomes the owner's: she stays Mia.
    provider.is("mia-1", claims("owner@acme.example"));
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/");
    browser.get("/settings/you").await.is(200).shows("Mia Teammate, mia@acme.example, member");

    // Somebody else gets Mia's address: they are not Mia.
    provider.is("new-1", claims("mia@acme.example"));
    let thief = app.browser();
    let page = sign_in(&provider, &thief).await.is(422);
    page.shows("signs in with another account at Acme Login");
    assert!(!is_signed_in(&thief).await);
    drop((browser, thief));

    // The same subject at another issuer is another account.
    let (other, app) = with_provider(app, |_| ());
    other.is("mia-1", claims("elsewhere@acme.example"));
    sign_in(&other, &app.browser()).await.is(422).shows("Nobody on a team here has the address");
    drop(mia);
}

async fn unknown_people_join_only_where_the_operator_says_so(app: TestApp) {
    let (provider, app) = with_provider(app, |_| ());
    provider.is("zoe-1", claims("zoe@acme.example"));
    let page = sign_in(&provider, &app.browser()).await.is(422);
    page.shows("Nobody on a team here has the address zoe@acme.example. Ask an owner or admin");
    let (provider, app) = with_provider(app, |config| {
        config.rules.domains = vec!["acme.example".into()];
        config.rules.joins = Some("acme".into());
    });
    provider.is("zoe-1", json!({ "email": "zoe@acme.example", "email_verified": false }));
    sign_in(&provider, &app.browser()).await.is(422).shows("does not say that your address");
    provider.is(
        "zoe-1",
        json!({
            "email": "zoe@acme.example", "email_verified": true, "name": "Zoe <b>Zander\n"
        }),
    );
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/");
    browser
        .get("/settings/you")
        .await
        .is(200)
        .shows("Zoe &#60;b&#62;Zander, zoe@acme.example, member");
    let owner = app.signed_in(&app.owner).await;
    owner.get("/settings/audit").await.is(200).shows("zoe@acme.example, as member");
}

async fn a_removed_person_does_not_come_back_by_the_provider(app: TestApp) {
    let (provider, app) = with_provider(app, |config| {
        config.rules.domains = vec!["acme.example".into()];
        config.rules.joins = Some("acme".into());
        config.rules.trusts_email = true;
    });
    let mia = app.person_with("Mia", Role::Member).await;
    provider.is("mia-1", claims("mia@acme.example"));
    let hers = app.browser();
    sign_in(&provider, &hers).await.goes_to("/");
    let owner = app.signed_in(&app.owner).await;
    let path = format!("/settings/people/{}/remove", user(&mia));
    owner.post(&path, &[]).await.goes_to("/settings/people");
    assert!(!is_signed_in(&hers).await);
    let hers = app.browser();
    sign_in(&provider, &hers).await.is(422).shows("You were removed from the team");
    provider.is("mia-1", claims("maria@acme.example"));
    sign_in(&provider, &hers).await.is(422).shows("You were removed from the team");
    provider.is("mia-2", claims("mia@acme.example"));
    sign_in(&provider, &hers).await.is(422).shows("You were removed from the team");

    app.person_with("Mia", Role::Member).await;
    provider.is("mia-1", claims("mia@acme.example"));
    sign_in(&provider, &hers).await.goes_to("/");
    assert!(is_signed_in(&hers).await, "who is added again signs in");
}

async fn only_addresses_of_the_operators_domains_sign_in(app: TestApp) {
    let (provider, app) = with_provider(app, |config| {
        config.rules.domains = vec!["acme.example".into(), "acme.test".into()];
    });
    app.person_with("Mia", Role::Member).await;
    for email in ["mia@evil.example", "mia@sub.acme.example", "mia@acme.example.evil.example"] {
        provider.is("mia-1", claims(email));
        let page = sign_in(&provider, &app.browser()).await.is(422);
        page.shows("Only accounts with an address at acme.example or acme.test sign in here");
    }
    provider.is("mia-1", claims("mia@acme.example"));
    sign_in(&provider, &app.browser()).await.goes_to("/");
    provider.is("mia-1", claims("mia@evil.example"));
    sign_in(&provider, &app.browser()).await.is(422).shows("Only accounts with an address");
}

async fn an_address_in_the_userinfo_counts_for_the_same_subject(app: TestApp) {
    let (provider, app) = with_provider(app, |_| ());
    app.person_with("Mia", Role::Member).await;
    provider.is("mia-1", json!({ "email": null }));
    let told =
        |sub: &str| json!({ "sub": sub, "email": "mia@acme.example", "email_verified": true });
    provider.script().userinfo = told("mia-2");
    let page = sign_in(&provider, &app.browser()).await.is(422);
    page.shows("could not be trusted");
    provider.script().userinfo = told("mia-1");
    sign_in(&provider, &app.browser()).await.goes_to("/");
}

/// Switches the app of a signed-in person on.
async fn with_app(app: &TestApp, browser: &Browser<'_>) -> TotpSecret {
    browser.post("/settings/sign-in/totp", &[]).await.goes_to("/settings/sign-in#app-h");
    let page = browser.get("/settings/sign-in").await.is(200);
    let secret = page.between("aria-label=\"Secret of the app\">", "</code>").replace(' ', "");
    let secret = TotpSecret::parse(&secret).unwrap();
    let code = secret.code_at(app.now());
    browser.post("/settings/sign-in/totp/confirm", &[("code", &code)]).await.is(200);
    app.advance(30 * SECOND);
    secret
}

async fn the_second_step_is_asked_for_unless_the_provider_does_it(app: TestApp) {
    let (provider, app) = with_provider(app, |config| config.rules.trusts_email = true);
    let owner = app.signed_in(&app.owner).await;
    let secret = with_app(&app, &owner).await;
    let browser = app.browser();
    let back = leave(&provider, &browser, "/leaving").await;
    browser.get(&back).await.goes_to("/sign-in/code");
    assert!(!is_signed_in(&browser).await);
    let code = secret.code_at(app.now());
    browser.post("/sign-in/code", &[("code", &code)]).await.goes_to("/leaving");
    assert!(is_signed_in(&browser).await);
    drop((owner, browser));

    let mut config = provider.config();
    config.second_step = ProviderSecondStep::WhereSaid;
    let app = app.with_sign_in_provider(config.clone());
    sign_in(&provider, &app.browser()).await.goes_to("/sign-in/code");
    provider.script().claims["amr"] = json!(["pwd"]);
    sign_in(&provider, &app.browser()).await.goes_to("/sign-in/code");
    provider.script().claims["amr"] = json!(["pwd", "mfa"]);
    sign_in(&provider, &app.browser()).await.goes_to("/");
    provider.script().claims["amr"] = json!(null);
    config.second_step = ProviderSecondStep::Theirs;
    let app = app.with_sign_in_provider(config);
    sign_in(&provider, &app.browser()).await.goes_to("/");
}

async fn two_steps_for_everybody_hold_after_the_provider_too(app: TestApp) {
    let (provider, app) = with_provider(app, |_| ());
    let owner = app.signed_in(&app.owner).await;
    let on = [("everybody", "on")];
    owner.post("/settings/people/two-steps", &on).await.goes_to("/settings/people");
    app.person_with("Mia", Role::Member).await;
    provider.is("mia-1", claims("mia@acme.example"));
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/sign-in/set-up");
    assert!(!is_signed_in(&browser).await);
    drop((owner, browser));
    let mut config = provider.config();
    config.second_step = ProviderSecondStep::Theirs;
    let app = app.with_sign_in_provider(config);
    let browser = app.browser();
    sign_in(&provider, &browser).await.goes_to("/");
    assert!(is_signed_in(&browser).await);
}

async fn where_only_the_provider_signs_in_owners_have_the_other_ways(app: TestApp) {
    let mia = app.person_with("Mia", Role::Member).await;
    let hers = app.signed_in(&mia).await;
    let new = [("new", "correct horse battery")];
    hers.post("/settings/you/password", &new).await.goes_to("/settings/you");
    drop(hers);
    let (provider, app) = with_provider(app, |config| {
        config.rules.trusts_email = true;
        config.rules.other_ways = LocalSignInPolicy::ForOwners;
    });
    let browser = app.browser();
    let page = browser.get("/sign-in").await.is(200);
    page.shows("<details>").shows("Owners can sign in another way");
    let fields = [("email", "mia@acme.example"), ("password", new[0].1)];
    let refused = browser.post("/sign-in", &fields).await.is(422);
    refused.shows("Only owners sign in otherwise.");
    let link = app.sign_in_link(&mia).await;
    browser.post(&link, &[]).await.is(422).shows("Only owners sign in otherwise.");
    browser.post("/sign-in-link", &[("email", "mia@acme.example")]).await.is(200);
    browser.post("/sign-in-link", &[("email", "owner@acme.example")]).await.is(200);
    app.work().await;
    assert!(mailed_links(&app, "mia@acme.example").is_empty());
    let link = mailed_links(&app, "owner@acme.example").remove(0);
    assert!(!is_signed_in(&browser).await);
    app.browser().post(&link, &[]).await.goes_to("/");

    provider.is("mia-1", claims("mia@acme.example"));
    sign_in(&provider, &browser).await.goes_to("/");
    assert!(is_signed_in(&browser).await);
    browser.remember_csrf().await;
    browser.get("/settings/sign-in").await.is(200).hides("Unlink it");
    browser.post("/settings/sign-in/provider/unlink", &[]).await.is(403);
}

async fn people_who_are_added_are_told_to_use_the_provider(app: TestApp) {
    let (_provider, app) = with_provider(app, |config| {
        config.rules.trusts_email = true;
        config.rules.other_ways = LocalSignInPolicy::ForOwners;
    });
    let owner = app.signed_in(&app.owner).await;
    let new = [("name", "Zoe"), ("email", "zoe@acme.example"), ("role", "member")];
    owner.post("/settings/people", &new).await.goes_to("/settings/people");
    app.work().await;
    let mails = app.outside.relay.attempts();
    let mail = String::from_utf8_lossy(&mails.last().unwrap().bytes).replace("=\r\n", "");
    assert!(mail.contains("Sign in with Acme Login") && !mail.contains("/sign-in/"), "{mail}");
}

async fn an_account_is_unlinked_by_its_person_and_by_a_reset(app: TestApp) {
    let (provider, app) = with_provider(app, |_| ());
    let mia = app.person_with("Mia", Role::Member).await;
    provider.is("mia-1", claims("mia@acme.example"));
    let (first, second) = (app.browser(), app.browser());
    sign_in(&provider, &first).await.goes_to("/");
    sign_in(&provider, &second).await.goes_to("/");
    first.remember_csrf().await;
    first.post("/settings/sign-in/provider/unlink", &[]).await.goes_to("/settings/sign-in");
    assert!(is_signed_in(&first).await && !is_signed_in(&second).await);
    first.post("/settings/sign-in/provider/unlink", &[]).await.is(404);
    let second = app.browser();
    sign_in(&provider, &second).await.is(422).shows("is not linked yet");
    link(&provider, &first).await.goes_to("/settings/sign-in");
    sign_in(&provider, &second).await.goes_to("/");
    let owner = app.signed_in(&app.owner).await;
    let path = format!("/settings/people/{}/reset-sign-in", user(&mia));
    owner.post(&path, &[]).await.goes_to("/settings/people");
    assert!(!is_signed_in(&first).await && !is_signed_in(&second).await);
    sign_in(&provider, &app.browser()).await.is(422).shows("is not linked yet");
}

async fn the_answer_may_reach_another_node(app: TestApp) {
    let (provider, app) = with_provider(app, |config| config.rules.trusts_email = true);
    let mut config = provider.config();
    config.rules.trusts_email = true;
    let Some(node) = app.another_node_with_provider(config) else { return };
    let browser = app.browser();
    let back = leave(&provider, &browser, "/leaving").await;
    let browser = browser.at(node);
    browser.get(&back).await.goes_to("/leaving");
    assert!(is_signed_in(&browser).await);
}

async fn what_is_going_on_is_mailed_and_written_down(app: TestApp) {
    let (provider, app) = with_provider(app, |_| ());
    let owner = app.signed_in(&app.owner).await;
    link(&provider, &owner).await.goes_to("/settings/sign-in");
    owner.post("/settings/sign-in/provider/unlink", &[]).await.goes_to("/settings/sign-in");
    app.work().await;
    let mails = app.outside.relay.attempts();
    let all: String = mails.iter().map(|mail| String::from_utf8_lossy(&mail.bytes)).collect();
    for subject in ["A sign-in provider was linked at", "A sign-in provider was unlinked at"] {
        assert!(all.contains(subject), "{subject}");
    }
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("linked a sign-in provider to").shows("unlinked the sign-in provider of");
    let kept = app.act(&app.owner, |tx, cx| provider_accounts::linked_people(tx, cx, "x")).await;
    assert!(kept.is_empty());
}

async fn without_a_provider_there_is_no_button(app: TestApp) {
    let browser = app.browser();
    browser.get("/sign-in").await.is(200).hides(BEGIN);
    browser.post(BEGIN, &[]).await.is(404);
    browser.get(&format!("{CALLBACK}?code=x&state=y")).await.is(404);
    let owner = app.signed_in(&app.owner).await;
    owner.get("/settings/sign-in").await.is(200).hides("/settings/sign-in/provider");
    owner.post("/settings/sign-in/provider", &[]).await.is(404);
    owner.post("/settings/sign-in/provider/unlink", &[]).await.is(404);
}
