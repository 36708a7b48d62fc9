//! The leases of mailboxes that a node fetches are renewed together, and each is lost by itself.

use actions::inboxes::imap_accounts::{self, FetchFrom, MailHistory};
use actions::inboxes::setup;
use inbound::imap::{self, FetchProtocol, ImapAccount, PostFetchAction, Security};
use model::mailboxes::mailbox_grants::MailAuth;
use testing::{MINUTE, TestApp, on_both};

on_both!(one_write_renews_the_leases_of_all_inboxes_and_says_which_are_lost);

fn account_at(host: &str) -> FetchFrom {
    FetchFrom {
        protocol: FetchProtocol::Imap,
        host: host.into(),
        port: 993,
        security: Security::Tls,
        username: "u".into(),
        auth: MailAuth::Password,
        sealed_password: "sealed".into(),
        folder: "INBOX".into(),
        after: PostFetchAction::Nothing,
        trusts: None,
        history: MailHistory::Everything,
        by_operator: true,
    }
}

async fn claim(app: &TestApp) -> Vec<ImapAccount> {
    let own = app.app.clone();
    let claimed = app.app.store.write(move |tx| imap::claim_due(tx, &own.ids, own.clock.now(), 10));
    claimed.await.unwrap()
}

async fn hold(app: &TestApp, accounts: &[ImapAccount]) -> Vec<bool> {
    let (accounts, now) = (accounts.to_vec(), app.now());
    let held = app.app.store.write_relaxed(move |tx| imap::hold_all(tx, &accounts, now));
    held.await.unwrap()
}

async fn one_write_renews_the_leases_of_all_inboxes_and_says_which_are_lost(app: TestApp) {
    let addresses = ["support@acme.example", "sales@acme.example"];
    let sales = addresses[1];
    app.act(&app.owner, move |tx, cx| setup::add_mailbox(tx, cx, sales, "Sales", None)).await;
    for address in addresses {
        let from = account_at("imap.acme.example");
        app.act(&app.owner, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, address, &from))
            .await;
    }
    let held = claim(&app).await;
    assert_eq!(held.len(), 2);
    // Renewed, both stay claimed beyond their first minute.
    app.advance(MINUTE / 2);
    assert_eq!(hold(&app, &held).await, [true, true]);
    app.advance(3 * MINUTE / 4);
    assert!(claim(&app).await.is_empty());
    // One that is set up anew is lost, the other is not.
    let lost = held[0].inbox.mailbox.address.clone();
    let from = account_at("elsewhere.acme.example");
    app.act(&app.owner, move |tx, cx| imap_accounts::fetch_mail_from(tx, cx, &lost, &from)).await;
    assert_eq!(hold(&app, &held).await, [false, true]);
}
