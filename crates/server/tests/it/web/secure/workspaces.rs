//! Protected pages of several workspaces in one browser: what is proven or ended in one changes nothing in another.

use base::actor::Actor;
use base::ids::WorkspaceId;
use model::mailboxes;
use serde_json::json;

use super::pages::{Reader, after};
use crate::support::*;

on_both!(each_workspace_has_a_session_of_its_own);

/// Another workspace sends the same customer a secure message.
async fn protected_by<'a>(app: &'a TestApp, other: &Actor, words: &str) -> Reader<'a> {
    let seen = app.act(other, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await;
    let inbox = seen.into_iter().next().unwrap();
    let service = Actor::system(other.ws, other.workspace.clone(), inbox.circle.clone());
    let incoming = app.incoming(&inbox, letter("ann@shop.example Ann", "Chairs", "Hello"));
    let receive = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        inbound::receive::receive(tx, cx, &inbox, &incoming)
    };
    let conversation = app.act(&service, receive).await.conversation.to_string();
    let key = app.key_of(other, "Globot", "read write draft send", true).await;
    let body = json!({ "body": words, "secure": true, "send": true });
    let made = app.on(&key, &conversation, "replies", body).await.is(201).json();
    app.pass(UNDO).await;
    let path = format!("/s/{}", after(app, "/s/", 40));
    Reader { app, key, conversation, message: text_of(&made, "messageId"), path }
}

async fn each_workspace_has_a_session_of_its_own(app: TestApp) {
    let acme = app.protected("Words of Acme").await;
    let other = app.other_workspace("Globex").await;
    let globex = protected_by(&app, &other, "Words of Globex").await;
    let browser = app.browser();
    acme.sign_in(&browser).await;
    browser.get(&globex.path).await.is(200).hides("Words of Globex");
    globex.sign_in(&browser).await;
    browser.get(&globex.path).await.is(200).shows("Words of Globex");
    browser.get(&acme.path).await.is(200).shows("Words of Acme");
    // The cookie of one opens nothing in the other.
    let name = |workspace: &WorkspaceId| format!("__Host-mailroom_guest-{workspace}");
    let cookie = browser.cookie(&name(&app.owner.workspace)).expect("a cookie");
    let stranger = app.browser();
    stranger.set_cookie(&name(&other.workspace), &cookie);
    stranger.get(&globex.path).await.is(200).hides("Words of Globex");
    stranger.get(&acme.path).await.is(200).hides("Words of Acme");
    globex.press(&browser, "sign-out", &[]).await.is(303);
    browser.get(&globex.path).await.is(200).hides("Words of Globex");
    browser.get(&acme.path).await.is(200).shows("Words of Acme");
}
