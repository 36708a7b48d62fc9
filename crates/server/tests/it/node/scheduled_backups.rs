//! Scheduled backups: one node writes each, failures are told once, and owners see how it goes.

use std::fs;
use std::path::Path;

use backup::{BackupRunner, BackupSettings};
use model::installation::scheduled_backups::{ScheduledBackups, scheduled_backups};

use crate::support::*;

on_both!(
    a_due_backup_is_written_once_whatever_the_number_of_nodes,
    a_backup_that_fails_is_told_once_and_tried_again_after_an_hour,
    an_installation_without_scheduled_backups_says_so,
    a_plan_that_was_cleared_is_set_again,
    a_backup_that_lacks_damaged_files_is_written_and_told,
);

fn runner(app: &TestApp, place: &Path, at: &str) -> BackupRunner {
    let settings = BackupSettings {
        place: place.to_str().unwrap().to_owned(),
        timing: at.parse().unwrap(),
        keep: Some("1".parse().unwrap()),
        passphrase_file: None,
    };
    BackupRunner {
        app: app.on_another_node(),
        settings: Some(settings),
        data: app.folder().to_owned(),
        spool: app.folder().join("spool"),
    }
}

async fn state(app: &TestApp) -> ScheduledBackups {
    app.app.store.read(scheduled_backups).await.unwrap()
}

fn manifests(place: &Path) -> usize {
    let files = fs::read_dir(place).unwrap().map(|file| file.unwrap().file_name());
    files.filter(|name| name.to_string_lossy().ends_with(".manifest.json")).count()
}

async fn a_due_backup_is_written_once_whatever_the_number_of_nodes(app: TestApp) {
    app.mail("ann@shop.example", "Lamps", "Hello").await;
    let place = app.folder().join("backups");
    let (one, two) = (runner(&app, &place, "6h"), runner(&app, &place, "6h"));
    one.begin().await;
    two.begin().await;
    let (first, second) = tokio::join!(one.round(), two.round());
    assert!(first != second, "one of them writes it: {first} {second}");
    let written = state(&app).await;
    assert_eq!(written.succeeded_at, Some(app.now()));
    assert_eq!(written.next_at, Some(app.now() + 6 * HOUR));
    assert_eq!(manifests(&place), 1);
    assert!(!one.round().await, "none is due");
    // A server that starts again does not begin anew.
    one.begin().await;
    assert_eq!(state(&app).await.next_at, written.next_at);
    app.advance(6 * HOUR);
    assert!(two.round().await);
    assert_eq!(manifests(&place), 1, "the older one is removed");
    let owner = app.signed_in(&app.owner).await;
    owner.get("/settings/data").await.is(200).shows("every 6 hours").shows("the newest 1");
    let bo = app.person("Bo").await;
    app.signed_in(&bo).await.get("/settings/data").await.is(403);
}

async fn a_backup_that_fails_is_told_once_and_tried_again_after_an_hour(app: TestApp) {
    let place = app.folder().join("in-the-way");
    fs::write(&place, "no folder").unwrap();
    let node = runner(&app, &place, "6h");
    node.begin().await;
    let told = || app.outside.relay.attempts().len();
    let before = told();
    for failures in 1..=3 {
        assert!(node.round().await);
        let failed = state(&app).await;
        assert_eq!((failed.failures, failed.failed_at), (failures, Some(app.now())));
        assert_eq!(failed.next_at, Some(app.now() + HOUR));
        app.work().await;
        assert_eq!(told(), before + 1, "the owner is told once");
        app.advance(HOUR);
    }
    let owner = app.signed_in(&app.owner).await;
    owner
        .get("/settings/data")
        .await
        .is(200)
        .shows("The last one failed")
        .shows("None was written yet")
        .hides("in-the-way");
    fs::remove_file(&place).unwrap();
    assert!(node.round().await);
    let written = state(&app).await;
    assert_eq!((written.failures, written.failure), (0, None));
    owner.get("/settings/data").await.hides("The last one failed");
}

async fn an_installation_without_scheduled_backups_says_so(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.get("/settings/data").await.is(200).shows("No backups are scheduled");
    let place = app.folder().join("backups");
    runner(&app, &place, "03:00").begin().await;
    let planned = state(&app).await;
    assert_eq!(planned.timing.as_deref(), Some("every day at 03:00 UTC"));
    assert!(planned.next_at > Some(app.now()));
    let node = BackupRunner { settings: None, ..runner(&app, &place, "03:00") };
    node.begin().await;
    let left = state(&app).await.place;
    assert_eq!(left.is_some(), app.app.store.is_shared(), "other nodes go on with theirs");
    assert!(!node.round().await);
}

async fn a_plan_that_was_cleared_is_set_again(app: TestApp) {
    let node = runner(&app, &app.folder().join("backups"), "03:00");
    node.begin().await;
    let planned = state(&app).await;
    app.exec("UPDATE scheduled_backups SET place = NULL, timing = NULL, next_at = NULL").await;
    assert!(!node.round().await, "none is due before three");
    assert_eq!(state(&app).await, planned);
}

async fn a_backup_that_lacks_damaged_files_is_written_and_told(app: TestApp) {
    let noise: Vec<u8> = app.app.ids.bytes::<300_000>().to_vec();
    let mut mail = letter("ann@shop.example", "Lamps", "Hello");
    mail.attachments = vec![testing::file("plan.bin", &noise)];
    let mail = app.deliver(&app.support, mail).await;
    let hash = base::files::blobs::Blobs::hash_of(&noise);
    let file = app.blob_folder().join(&hash[..2]).join(&hash);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..1_000]).unwrap();
    let node = runner(&app, &app.folder().join("backups"), "6h");
    node.begin().await;
    let before = app.outside.relay.attempts().len();
    for _ in 0..2 {
        assert!(node.round().await);
        let written = state(&app).await;
        assert_eq!((written.failures, written.succeeded_at), (0, Some(app.now())));
        assert_eq!(written.damaged_files(), 1);
        let lacks = written.failure.clone().unwrap();
        assert!(lacks.contains(&hash) && lacks.contains(mail.conversation.as_str()), "{lacks}");
        assert!(!lacks.contains("Lamps") && !lacks.contains("plan"), "{lacks}");
        let problem = "the last scheduled backup lacks files that are damaged";
        assert_eq!(written.problem(), Some(problem));
        app.work().await;
        assert_eq!(app.outside.relay.attempts().len(), before + 1, "the owner is told once");
        app.advance(6 * HOUR);
    }
    fs::write(&file, whole).unwrap();
    assert!(node.round().await);
    let written = state(&app).await;
    assert_eq!((written.damaged_files(), written.problem(), written.failure), (0, None, None));
}
