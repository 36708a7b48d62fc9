//! What a person chooses when they let an app in, and what a client reads when it gets nothing.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use super::{allow, asks, challenge, exchange, form, post, query, register, registered, text};
use crate::support::*;
use crate::web::browser::Page;

on_both!(sandbox_or_real_mail_is_chosen_by_the_person_alone, every_oauth_error_has_a_description);

async fn sandbox_or_real_mail_is_chosen_by_the_person_alone(app: TestApp) {
    let client = registered(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let challenge = challenge();
    let path = format!("/authorize?{}", query(&asks(&client, &challenge)));
    let shown = browser.get(&path).await.is(200);
    shown.shows("Sandbox or real mail?");
    let radios = |page: &Page| {
        let words = page.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let radios = words.split("<input ").filter(|tag| tag.starts_with("type=\"radio\""));
        radios.map(|tag| tag.split('>').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for radio in radios(&shown) {
        assert!(radio.contains("required") && !radio.contains("checked"), "{radio}");
    }
    assert_eq!(radios(&shown).len(), 2);
    for works in ["", "both", "Live"] {
        let mut fields = asks(&client, &challenge);
        fields.extend([("allow", "send"), ("works", works), ("answer", "allow")]);
        let again = browser.post("/authorize", &fields).await.is(422);
        again.shows("Choose sandbox or real mail. Nothing was connected yet.");
        let words = again.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("value=\"send\" checked"), "what was ticked stays");
        assert!(!words.contains("value=\"write\" checked"), "what was not ticked stays so");
    }
    browser.get("/settings/apps").await.is(200).shows("No app is connected");
    for (works, shown) in [("sandbox", "Sandbox"), ("live", "Real mail")] {
        allow(&browser, &client, &[], works).await;
        browser.get("/settings/apps").await.is(200).shows(shown);
    }
    let again = browser.get(&path).await.is(200);
    assert!(radios(&again).iter().all(|radio| !radio.contains("checked")), "nor the next time");
    again.shows("So far this app works with real mail.");
}

async fn every_oauth_error_has_a_description(app: TestApp) {
    let client = registered(&app).await;
    let request = |method: &str, path: &str| {
        Request::builder().method(method).uri(path).body(Body::empty()).unwrap()
    };
    let answers = [
        app.send(request("GET", "/token")).await.is(405),
        app.send(request("GET", "/register")).await.is(405),
        app.send(request("POST", "/.well-known/oauth-authorization-server")).await.is(405),
        app.send(request("POST", "/token")).await.is(400),
        form(&app, "/revoke", &[]).await.is(400),
        form(&app, "/token", &[("client_id", "ocl_nobody")]).await.is(401),
        form(&app, "/token", &[("client_id", &client)]).await.is(400),
        exchange(&app, &client, "rc_nothing").await.is(400),
        register(&app, json!([])).await.is(400),
    ];
    for answer in answers {
        let told = answer.json();
        assert!(!text(&told, "error").contains(' '), "{told}");
        assert!(text(&told, "error_description").ends_with('.'), "{told}");
    }
    let wrong = format!("ro_{}", "x".repeat(48));
    for token in [Some(wrong.as_str()), None] {
        let answer = app.send(post(token, &[], "{}")).await.is(401);
        let told = answer.header("www-authenticate").to_owned();
        assert_eq!(told.contains("error_description=\""), token.is_some(), "{told}");
        let sentence = answer.json()["error"]["message"].to_string();
        assert!(sentence.contains("access token") && sentence.contains("API key"), "{sentence}");
    }
}
