//! Attacks on signing in at a provider: forged and foreign tokens, answers of others, documents that lead
//! elsewhere. None of them signs anybody in, and each gets a sentence.

use actions::sign_in::sessions;
use serde_json::{Value, json};

use super::provider::{CLIENT_ID, ScriptedProvider, Signs};
use super::{BEGIN, CALLBACK, is_signed_in, leave, sign_in, with_provider};
use crate::support::*;

on_both!(
    a_token_with_wrong_claims_signs_nobody_in,
    a_token_that_the_provider_has_not_signed_signs_nobody_in,
    an_unknown_key_has_the_keys_read_again_but_not_without_end,
    an_answer_is_used_once_in_its_browser_with_its_state,
    an_answer_of_another_issuer_is_refused,
    an_unproven_address_links_nothing,
    documents_that_are_too_large_or_lead_elsewhere_are_refused,
    only_the_issuer_itself_may_be_in_a_private_network,
    a_provider_that_is_down_or_refuses_is_told_in_a_sentence,
    sign_ins_are_not_begun_without_end
);

const UNTRUSTED: &str = "could not be trusted, so you are not signed in";

/// An owner who would be signed in if the provider said the truth.
fn trusting(app: TestApp) -> (ScriptedProvider, TestApp) {
    with_provider(app, |config| config.rules.trusts_email = true)
}

async fn a_token_with_wrong_claims_signs_nobody_in(app: TestApp) {
    let (provider, app) = trusting(app);
    let now = app.now() / 1_000;
    for (what, wrong) in [
        ("nonce", json!({ "nonce": "another" })),
        ("no nonce", json!({ "nonce": null })),
        ("audience", json!({ "aud": "another client" })),
        ("audiences", json!({ "aud": ["another client", "a third"] })),
        ("no audience", json!({ "aud": [] })),
        ("audiences without a party", json!({ "aud": [CLIENT_ID, "another client"] })),
        ("party", json!({ "aud": [CLIENT_ID, "another client"], "azp": "another client" })),
        ("party alone", json!({ "azp": "another client" })),
        ("issuer", json!({ "iss": "https://login.evil.example" })),
        ("issuer with a slash", json!({ "iss": format!("{}/", provider.issuer()) })),
        ("expired", json!({ "exp": now - 121 })),
        ("no end", json!({ "exp": null })),
        ("tomorrow", json!({ "iat": now + 86_400 })),
        ("yesterday", json!({ "iat": now - 86_400 })),
        ("no beginning", json!({ "iat": null })),
        ("not yet", json!({ "nbf": now + 600 })),
        ("no subject", json!({ "sub": "" })),
        ("a long subject", json!({ "sub": "x".repeat(256) })),
        ("an odd subject", json!({ "sub": "a\nb" })),
        ("a subject that is no text", json!({ "sub": 7 })),
    ] {
        let mut claims = json!({ "email": "owner@acme.example", "email_verified": true });
        claims.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        provider.is("owner-1", claims);
        let browser = app.browser();
        let page = sign_in(&provider, &browser).await.is(422);
        assert!(page.text.contains(UNTRUSTED), "{what}: {}", page.text);
        assert!(!is_signed_in(&browser).await, "{what}");
    }
    let good = json!({
        "email": "owner@acme.example", "email_verified": "true",
        "aud": [CLIENT_ID, "another client"], "azp": CLIENT_ID, "exp": now - 60, "iat": now + 60,
    });
    provider.is("owner-1", good);
    sign_in(&provider, &app.browser()).await.goes_to("/");
}

async fn a_token_that_the_provider_has_not_signed_signs_nobody_in(app: TestApp) {
    let (provider, app) = trusting(app);
    for (what, header, signs) in [
        ("none", json!({ "alg": "none" }), Signs::Nobody),
        ("None", json!({ "alg": "None" }), Signs::Nobody),
        ("no signature", json!({ "alg": "EdDSA", "kid": "one" }), Signs::Nobody),
        ("no algorithm", json!({ "kid": "one" }), Signs::Own),
        ("a shared secret", json!({ "alg": "HS256", "kid": "one" }), Signs::WithPublicKey),
        ("a shared secret as ours", json!({ "alg": "EdDSA", "kid": "one" }), Signs::WithPublicKey),
        ("another key", json!({ "alg": "EdDSA", "kid": "one" }), Signs::Other),
        ("another key without a name", json!({ "alg": "EdDSA" }), Signs::Other),
        ("another algorithm", json!({ "alg": "RS256", "kid": "one" }), Signs::Own),
        ("an extension", json!({ "alg": "EdDSA", "kid": "one", "crit": ["b64"] }), Signs::Own),
        ("an access token", json!({ "alg": "EdDSA", "kid": "one", "typ": "at+jwt" }), Signs::Own),
        (
            "a key of its own",
            json!({ "alg": "EdDSA", "jwk": { "kty": "OKP" }, "jku": "https://evil.example" }),
            Signs::Other,
        ),
    ] {
        provider.change(|script| (script.header, script.signs) = (header, signs));
        let browser = app.browser();
        let page = sign_in(&provider, &browser).await.is(422);
        assert!(page.text.contains(UNTRUSTED), "{what}: {}", page.text);
        assert!(!is_signed_in(&browser).await, "{what}");
    }
    provider
        .change(|script| (script.header, script.signs) = (json!({ "alg": "EdDSA" }), Signs::Own));
    sign_in(&provider, &app.browser()).await.goes_to("/");
}

async fn an_unknown_key_has_the_keys_read_again_but_not_without_end(app: TestApp) {
    let (provider, app) = trusting(app);
    sign_in(&provider, &app.browser()).await.goes_to("/");
    let reads = || provider.script().asked["/keys"];
    assert_eq!(reads(), 1);
    provider.script().header = json!({ "alg": "EdDSA", "kid": "nobody's" });
    for _ in 0..5 {
        sign_in(&provider, &app.browser()).await.is(422).shows(UNTRUSTED);
    }
    assert_eq!(reads(), 1, "they were read a moment ago");
    app.advance(MINUTE);
    for _ in 0..5 {
        sign_in(&provider, &app.browser()).await.is(422).shows(UNTRUSTED);
    }
    assert_eq!(reads(), 2);

    // A provider that has a new key signs people in at once.
    app.advance(MINUTE);
    provider.script().key_id = "two".into();
    provider.script().header = json!({ "alg": "EdDSA", "kid": "two" });
    sign_in(&provider, &app.browser()).await.goes_to("/");
    assert_eq!(reads(), 3);
}

async fn an_answer_is_used_once_in_its_browser_with_its_state(app: TestApp) {
    let (provider, app) = trusting(app);
    let old = "begun in another browser, or too long ago";
    let browser = app.browser();
    let back = leave(&provider, &browser, "/").await;
    // A victim's browser that is led to the attacker's answer.
    app.browser().get(&back).await.is(422).shows(old);
    let victim = app.browser();
    leave(&provider, &victim, "/").await;
    victim.get(&back).await.is(422).shows(old);
    assert!(!is_signed_in(&victim).await);
    let (address, _) = back.split_once("&state=").unwrap();
    for state in ["", "&state=", "&state=another"] {
        browser.get(&format!("{address}{state}")).await.is(422).shows(old);
    }
    let cookie = browser.cookie("__Host-mailroom_step").unwrap();
    browser.get(&back).await.goes_to("/");
    let replay = app.browser();
    replay.set_cookie("__Host-mailroom_step", &cookie);
    replay.get(&back).await.is(422).shows(old);
    assert!(!is_signed_in(&replay).await);

    // A stolen code is of no use with a state of one's own: the verifier is another.
    let (thief, code) = (app.browser(), leave(&provider, &app.browser(), "/").await);
    let own = leave(&provider, &thief, "/").await;
    let (_, state) = own.split_once("&state=").unwrap();
    let (stolen, _) = code.split_once("&state=").unwrap();
    let page = thief.get(&format!("{stolen}&state={state}")).await.is(422);
    page.shows("does not accept this sign-in any more");
    assert!(!is_signed_in(&thief).await);

    let late = app.browser();
    let back = leave(&provider, &late, "/").await;
    app.advance(10 * MINUTE);
    late.get(&back).await.is(422).shows(old);
}

async fn an_answer_of_another_issuer_is_refused(app: TestApp) {
    let (provider, app) = trusting(app);
    let browser = app.browser();
    let back = leave(&provider, &browser, "/").await;
    let mixed = format!("{back}&iss=https%3A%2F%2Flogin.evil.example");
    browser.get(&mixed).await.is(422).shows(UNTRUSTED);
    assert!(!provider.script().asked.contains_key("/token"), "the code went nowhere");
    let back = leave(&provider, &browser, "/").await;
    let issuer = provider.issuer().replace(':', "%3A").replace('/', "%2F");
    browser.get(&format!("{back}&iss={issuer}")).await.goes_to("/");

    app.advance(61 * MINUTE);
    provider.script().now = app.now();
    provider.script().document = json!({ "authorization_response_iss_parameter_supported": true });
    let browser = app.browser();
    sign_in(&provider, &browser).await.is(422).shows(UNTRUSTED);
    let back = leave(&provider, &browser, "/").await;
    let (_, state) = back.split_once("&state=").unwrap();
    let forged = format!("{CALLBACK}?error=access_denied&state={state}");
    browser.get(&forged).await.is(422).shows(UNTRUSTED);
    let back = leave(&provider, &browser, "/").await;
    browser.get(&format!("{back}&iss={issuer}")).await.goes_to("/");
}

async fn an_unproven_address_links_nothing(app: TestApp) {
    let (provider, app) = with_provider(app, |_| ());
    for unproven in [json!(false), json!(null), json!("false"), json!("yes"), json!(1)] {
        let claims = json!({ "email": "owner@acme.example", "email_verified": unproven });
        provider.is("thief-1", claims);
        let browser = app.browser();
        let page = sign_in(&provider, &browser).await.is(422);
        page.shows("does not say that your address there is proven");
        assert!(!is_signed_in(&browser).await, "{unproven}");
    }
    // Whether somebody has the address is not told to who has not proven it.
    provider.is("thief-1", json!({ "email": "nobody@acme.example", "email_verified": false }));
    let page = sign_in(&provider, &app.browser()).await.is(422);
    page.shows("does not say that your address there is proven");
    provider.is("thief-1", json!({ "email": "not an address", "email_verified": true }));
    sign_in(&provider, &app.browser()).await.is(422).shows("does not say that your address");
}

async fn documents_that_are_too_large_or_lead_elsewhere_are_refused(app: TestApp) {
    let (provider, app) = trusting(app);
    let document = "/.well-known/openid-configuration";
    let wrong = "is not set up rightly here";
    provider.script().padding = 200 * 1024;
    app.browser().post(BEGIN, &[]).await.is(422).shows("could not be reached");
    provider.script().padding = 0;
    // A failure is not asked for again at once.
    app.browser().post(BEGIN, &[]).await.is(422).shows("could not be reached");
    assert_eq!(provider.script().asked[document], 1);
    for (change, status, told) in [
        (json!({}), 302, wrong),
        (json!({}), 404, "could not be reached"),
        (json!({ "issuer": "https://login.evil.example" }), 200, wrong),
        (json!({ "issuer": format!("{}/", provider.issuer()) }), 200, wrong),
        (json!({ "token_endpoint": null }), 200, wrong),
        (json!({ "token_endpoint": "http://login.evil.example/token" }), 200, wrong),
        (json!({ "jwks_uri": "ftp://login.evil.example/keys" }), 200, wrong),
        (json!({ "authorization_endpoint": "javascript:alert(1)" }), 200, wrong),
        (json!({ "userinfo_endpoint": "https://a:b@login.evil.example/" }), 200, wrong),
    ] {
        app.advance(11 * SECOND);
        provider.change(|script| {
            script.document = change.clone();
            script.fails.clear();
            if status != 200 {
                script.fails.insert(document, status);
            }
        });
        let page = app.browser().post(BEGIN, &[]).await.is(422);
        assert!(page.text.contains(told), "{change} {status}: {}", page.text);
    }
    assert!(!provider.script().asked.contains_key("/elsewhere"));
    app.advance(11 * SECOND);
    provider.change(|script| {
        (script.document, script.now) = (json!({}), app.now());
        script.fails.clear();
    });
    sign_in(&provider, &app.browser()).await.goes_to("/");

    // The provider is left for a moment without its documents, and people still sign in.
    app.advance(61 * MINUTE);
    provider.change(|script| {
        script.now = app.now();
        script.fails.insert(document, 503);
        script.fails.insert("/keys", 503);
    });
    sign_in(&provider, &app.browser()).await.goes_to("/");
    app.advance(24 * HOUR);
    app.browser().post(BEGIN, &[]).await.is(422).shows("could not be reached");
}

async fn only_the_issuer_itself_may_be_in_a_private_network(mut app: TestApp) {
    for (name, address) in [
        ("token_endpoint", "https://127.0.0.1:9/token"),
        ("token_endpoint", "https://inside.acme.example/token"),
        ("jwks_uri", "https://169.254.169.254/keys"),
        ("jwks_uri", "https://localhost/keys"),
        ("userinfo_endpoint", "https://[::1]/userinfo"),
    ] {
        let (provider, there) = trusting(app);
        let mut document = json!({});
        document[name] = Value::from(address);
        provider.script().document = document;
        provider.is("owner-1", json!({ "email": null }));
        let page = sign_in(&provider, &there.browser()).await.is(422);
        page.shows("is not set up rightly here");
        app = there;
    }
}

async fn a_provider_that_is_down_or_refuses_is_told_in_a_sentence(app: TestApp) {
    let (provider, app) = trusting(app);
    let browser = app.browser();
    for (error, sentence) in [
        ("access_denied", "it was not allowed at Acme Login"),
        ("server_error", "Acme Login cannot answer at the moment"),
        ("odd_%3Cb%3Eone", "Acme Login refused the sign-in (odd_bone)"),
    ] {
        let back = leave(&provider, &browser, "/leaving").await;
        let (_, state) = back.split_once("&state=").unwrap();
        let path = format!("{CALLBACK}?error={error}&state={state}");
        let page = browser.get(&path).await.is(422);
        page.shows(sentence).shows("name=\"next\" value=\"/leaving\"");
    }
    provider.script().fails.insert("/token", 503);
    sign_in(&provider, &browser).await.is(422).shows("Acme Login could not be reached");
    provider.script().fails.insert("/token", 302);
    sign_in(&provider, &browser).await.is(422).shows("Acme Login could not be reached");
    provider.script().fails.clear();
    provider.script().fails.insert("/keys", 500);
    sign_in(&provider, &browser).await.is(422).shows("Acme Login could not be reached");
    assert!(!is_signed_in(&browser).await);
    for (methods, works) in [
        (json!(["client_secret_post"]), true),
        (json!(["client_secret_post", "client_secret_basic"]), true),
        (json!(["private_key_jwt"]), true),
    ] {
        app.advance(61 * MINUTE);
        provider.change(|script| {
            script.now = app.now();
            script.fails.clear();
            script.document = json!({ "token_endpoint_auth_methods_supported": methods });
        });
        assert_eq!(sign_in(&provider, &app.browser()).await.status == 303, works);
    }
}

async fn sign_ins_are_not_begun_without_end(app: TestApp) {
    let (_provider, app) = trusting(app);
    let (now, place) = (app.now(), "provider from unknown".to_owned());
    for _ in 0..200 {
        let place = place.clone();
        let count = move |tx: &mut db::Tx<'_>, _: &base::app::Cx<'_>| {
            sessions::count_sign_in_attempt(tx, &place, 200, now)
        };
        app.act(&app.owner, count).await;
    }
    let page = app.browser().post(BEGIN, &[]).await.is(422);
    page.shows("Too many sign-ins were begun from here. Wait 15 minutes.");
}
