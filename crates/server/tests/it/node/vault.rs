//! Whoever has the database alone cannot sign with our keys or sign in as somebody.

use actions::integrations::delivery_log;
use actions::sign_in::sessions;
use base::security::secret_sealer::SecretSealer;
use model::installation::mail_secret::mail_secret;
use model::installation::sealing::seal_plain_secrets;
use model::mailboxes::domains;
use testing::{signature, signatures};

use crate::support::{TestApp, on_both, user};

on_both!(
    no_secret_that_is_used_again_is_kept_as_it_is,
    what_an_earlier_version_kept_as_it_was_is_sealed_at_start_and_goes_on_to_work,
    a_webhook_whose_secret_does_not_open_sends_nothing_and_says_why
);

/// Everything of these tables that can hold a secret, as it is kept.
async fn kept(app: &TestApp) -> Vec<Vec<u8>> {
    let read = app.app.store.read(|tx| -> base::error::Result<_> {
        let texts: Vec<(String, Option<String>)> =
            tx.all("SELECT secret, old_secret FROM webhooks", &[])?;
        let notices: Vec<(String,)> = tx.all("SELECT text FROM notices", &[])?;
        let bytes: Vec<(Vec<u8>,)> = tx.all(
            "SELECT secret FROM signing_keys UNION ALL SELECT secret FROM mail_secrets",
            &[],
        )?;
        let mut kept: Vec<Vec<u8>> = bytes.into_iter().map(|(bytes,)| bytes).collect();
        kept.extend(notices.into_iter().map(|(text,)| text.into_bytes()));
        for (new, old) in texts {
            kept.extend([Some(new), old].into_iter().flatten().map(String::into_bytes));
        }
        Ok(kept)
    });
    read.await.unwrap()
}

async fn secret_of_mail(app: &TestApp) -> Vec<u8> {
    app.act(&app.owner, |tx, cx| Ok(mail_secret(tx, cx)?.as_bytes().to_vec())).await
}

async fn make_signing_key(app: &TestApp) -> Vec<u8> {
    let key = domains::make_key(&app.app.ids).unwrap();
    let secret = key.secret().to_vec();
    app.act(&app.owner, move |tx, cx| domains::keep_first_key(tx, cx, "acme.example", &key)).await;
    secret
}

fn holds(kept: &[Vec<u8>], secret: &[u8]) -> bool {
    kept.iter().any(|kept| kept.windows(secret.len()).any(|part| part == secret))
}

async fn no_secret_that_is_used_again_is_kept_as_it_is(app: TestApp) {
    let app = app.with_mail();
    let hook = app.hook("receiver").await;
    let id = hook.id.clone();
    let new = app.act(&app.owner, move |tx, cx| delivery_log::rotate_secret(tx, cx, &id)).await;
    let (signing, mail) = (make_signing_key(&app).await, secret_of_mail(&app).await);
    let ann = user(&app.person("Ann").await);
    app.act(&app.owner, move |tx, cx| sessions::invite(tx, cx, &ann, true)).await;
    let kept = kept(&app).await;
    assert_eq!(kept.len(), 5);
    assert!(kept.iter().all(|kept| kept.starts_with(b"v1.")));
    for secret in [hook.secret.as_bytes(), new.as_bytes(), &signing, &mail, b"/sign-in/"] {
        assert!(!holds(&kept, secret));
    }
    assert_eq!(secret_of_mail(&app).await, mail);
}

async fn what_an_earlier_version_kept_as_it_was_is_sealed_at_start_and_goes_on_to_work(
    app: TestApp,
) {
    let hook = app.hook("receiver").await;
    let (id, secret) = (hook.id.clone(), hook.secret.clone());
    let signing = make_signing_key(&app).await;
    let mail = secret_of_mail(&app).await;
    let (plain_key, plain_mail) = (signing.clone(), mail.clone());
    app.act(&app.owner, move |tx, _| {
        tx.exec("UPDATE webhooks SET secret = ?2, old_secret = ?2 WHERE id = ?1", &[&id, &secret])?;
        tx.exec("UPDATE signing_keys SET secret = ?1", &[&plain_key])?;
        tx.exec("UPDATE mail_secrets SET secret = ?1", &[&plain_mail])?;
        Ok(())
    })
    .await;
    assert_eq!(secret_of_mail(&app).await, mail, "it is read before it is sealed");
    // Two processes start at once.
    let (one, two) = tokio::join!(seal_plain_secrets(&app.app), seal_plain_secrets(&app.app));
    assert_eq!(one.unwrap() + two.unwrap(), 3);
    assert_eq!(seal_plain_secrets(&app.app).await.unwrap(), 0);
    let kept = kept(&app).await;
    assert!(kept.iter().all(|kept| kept.starts_with(b"v1.")));
    for secret in [hook.secret.as_bytes(), &signing, &mail] {
        assert!(!holds(&kept, secret));
    }
    assert_eq!(secret_of_mail(&app).await, mail);
    app.send_test_event(&hook).await;
    app.work().await;
    let call = app.calls_to(&hook).pop().unwrap();
    assert_eq!(signatures(&call), [signature(&hook.secret, &call)]);
}

async fn a_webhook_whose_secret_does_not_open_sends_nothing_and_says_why(app: TestApp) {
    let (shut, fine) = (app.hook("shut").await, app.hook("fine").await);
    let id = shut.id.clone();
    let elsewhere = tempfile::tempdir().unwrap();
    let other = node::vault::Vault::open(elsewhere.path(), &app.app.ids).unwrap();
    let sealed = SecretSealer::seal(&other, &app.app.ids, "x", "whsec_AAAA");
    app.act(&app.owner, move |tx, _| {
        tx.exec("UPDATE webhooks SET secret = ?2 WHERE id = ?1", &[&id, &sealed])?;
        Ok(())
    })
    .await;
    app.send_test_event(&shut).await;
    app.send_test_event(&fine).await;
    app.work().await;
    assert!(app.calls_to(&shut).is_empty());
    assert_eq!(app.calls_to(&fine).len(), 1);
}
