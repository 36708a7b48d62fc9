//! Blobs that nothing names are found and removed; those that something names stay.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use base::files::blobs::keep;
use maintenance::sweep::sweep;
use serde_json::json;
use testing::{TestApp, file, letter, on_both};

on_both!(blobs_that_nothing_names_are_removed_and_the_others_stay);

/// Bytes that do not pack well enough to be kept in the database.
pub(super) fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        b'0' + ((state >> 33) % 75) as u8
    };
    (0..300_000).map(|_| byte()).collect()
}

/// Files that were taken in just now may belong to mail that is on its way.
pub(super) fn age_files(folder: &Path) {
    let before = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
    for file in files_in(folder) {
        File::options().append(true).open(file).unwrap().set_modified(before).unwrap();
    }
}

pub(super) fn files_in(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_in(&path)) } else { files.push(path) }
    }
    files
}

async fn blobs_that_nothing_names_are_removed_and_the_others_stay(app: TestApp) {
    let key = app.key("send").await;
    let mut mail = letter("ann@x.example", "Invoice", "text");
    mail.attachments = vec![file("large.txt", &noise(1)), file("small.txt", b"small")];
    let mail = app.deliver(&app.support, mail).await;
    let secret = json!({ "body": "Secret", "secure": true, "send": true });
    app.on(&key, &mail.conversation, "replies", secret).await.is(201);
    let before = app.count("blobs").await;
    assert_eq!(files_in(&app.blob_folder()).len(), 1);
    // A row without anything that refers to it, and files without a row.
    let (small, large) =
        (app.app.blobs.put(b"stray").unwrap(), app.app.blobs.put(&noise(2)).unwrap());
    let ws = app.owner.ws;
    app.act(&app.owner, move |tx, _| {
        keep(tx, ws, &small)?;
        keep(tx, ws, &large)
    })
    .await;
    app.app.blobs.put(&noise(3)).unwrap();
    let fresh = sweep(&app.app).await.unwrap();
    assert_eq!((fresh.rows, fresh.files), (2, 0), "what came just now is left alone");
    age_files(&app.blob_folder());
    let swept = sweep(&app.app).await.unwrap();
    assert_eq!((swept.rows, swept.files, swept.later), (0, 1, 0), "those of rows went with them");
    assert_eq!(app.count("blobs").await, before);
    assert_eq!(files_in(&app.blob_folder()).len(), 1);
    assert_eq!(super::deletion::faults(&app).await, Vec::<String>::new());
}
