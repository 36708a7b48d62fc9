//! Backups of which something is damaged: it is named, everything else comes back, and nothing is found out too late.

use maintenance::dump::DumpScope;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use backup::{BackupPlace, BackupProgress, BackupSource, WrittenBackup, write_backup};
use base::app::App;
use base::ids::UploadId;
use serde_json::{Value, json};
use server::demo;
use testing::Backend;

use super::super::{Said, Serving};
use super::{Installation, UPLOAD, ask_for_document, files_in, mail_with_file, receive};

/// Where an installation keeps the file of a blob.
fn blob_file(installation: &Installation, hash: &str) -> PathBuf {
    installation.data().join("blobs").join(&hash[..2]).join(hash)
}

/// The hashes of an installation's blobs that are files.
async fn file_hashes(installation: &Installation) -> Vec<String> {
    let store = testing::open(&installation.database.url);
    store.read(maintenance::dump::file_hashes).await.unwrap()
}

/// Changes one byte in the midst of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(path, bytes).unwrap();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

/// The sample workspace with two mails whose files are files: of one the attachment and the raw mail, each.
fn filled(runtime: &tokio::runtime::Runtime, backend: Backend) -> Installation {
    let installation = Installation::new(backend);
    let app = installation.app();
    runtime.block_on(async {
        demo::fill(&app).await.unwrap();
        receive(&app, mail_with_file("walnut")).await;
        receive(&app, mail_with_file("chestnut")).await;
    });
    installation
}

fn blobs_of(answer: &Value) -> Vec<&str> {
    answer["damagedBlobs"].as_array().unwrap().iter().map(|b| b["blob"].as_str().unwrap()).collect()
}

fn walk(backend: Backend) {
    let runtime = runtime();
    let (first, second) = (filled(&runtime, backend), Installation::new(backend));
    let hashes = runtime.block_on(file_hashes(&first));
    let (damaged, gone) = (hashes[0].as_str(), hashes[1].as_str());
    damage(&blob_file(&first, damaged));
    fs::remove_file(blob_file(&first, gone)).unwrap();
    let place = first.folder.path().join("backups");
    let place = place.to_str().unwrap();

    // The backup names them and who uses them, without a word of the mail.
    let said = Said::of(first.command(&["backup", place]).output().unwrap());
    assert_eq!(said.status, Some(3), "{} {}", said.out, said.err);
    for word in ["walnut", "chestnut"] {
        assert!(!said.out.contains(word) && !said.err.contains(word), "{} {}", said.out, said.err);
    }
    let backup: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(blobs_of(&backup), [damaged, gone]);
    let faults: Vec<&str> =
        [0, 1].map(|n| backup["damagedBlobs"][n]["fault"].as_str().unwrap()).to_vec();
    assert_eq!(faults, ["damaged", "missing"]);
    for blob in backup["damagedBlobs"].as_array().unwrap() {
        let used = &blob["uses"][0];
        assert!(used["conversation"].as_str().unwrap().starts_with("cnv_"), "{blob}");
        assert!(used["message"].as_str().unwrap().starts_with("msg_"), "{blob}");
    }
    assert_eq!(backup["missingBlobs"], json!([gone]));
    // Damaged bytes did not come to lie under the name of the blob, where they would pass for it.
    let copied: Vec<String> = files_in(&first.folder.path().join("backups").join("blobs"))
        .iter()
        .map(|file| file.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(!copied.iter().any(|name| name == damaged || name == gone), "{copied:?}");

    // Verifying says the same where the backup lies, again and again.
    let (status, verified) = first.run(&["backup", "verify", place]);
    assert_eq!((status, &verified["ok"]), (3, &json!(false)), "{verified}");
    assert_eq!(blobs_of(&verified["backups"][0]), [damaged, gone]);

    // Restoring refuses, leaves the database empty, and goes on with one flag.
    let (status, refused) = second.run(&["restore", place]);
    assert_eq!(status, 3, "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("--skip-damaged"), "{refused}");
    assert_eq!(blobs_of(&refused), [damaged, gone]);
    assert!(!second.data().join("secret.key").exists(), "nothing was restored");
    let (status, restored) = second.run(&["restore", place, "--skip-damaged"]);
    assert_eq!(status, 0, "{restored}");
    assert_eq!(restored["tables"], backup["tables"]);
    assert_eq!(blobs_of(&restored), [damaged, gone]);
    for hash in &hashes[2..] {
        let whole = fs::read(blob_file(&first, hash)).unwrap();
        assert_eq!(fs::read(blob_file(&second, hash)).unwrap(), whole);
    }

    // The server runs, and `check` names what is missing.
    let serving = Serving::start(&second.data(), &["--database-url", &second.database.url]);
    assert_eq!(serving.get("/readyz").0, 200);
    drop(serving);
    let (status, report) = second.run(&["check"]);
    assert_eq!(status, 1, "{report}");
    let missing: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            assert_eq!(finding["kind"], "missing-blob", "{report}");
            finding["id"].as_str().unwrap()
        })
        .collect();
    assert_eq!(missing, [damaged, gone]);
}

#[test]
fn a_backup_names_what_is_damaged_and_the_rest_comes_back_on_sqlite() {
    walk(Backend::Sqlite);
}

#[test]
fn a_backup_names_what_is_damaged_and_the_rest_comes_back_on_postgres() {
    walk(Backend::Postgres);
}

/// A damaged blob of the database itself.
fn damaged_row(backend: Backend) {
    let runtime = runtime();
    let (first, second) = (filled(&runtime, backend), Installation::new(backend));
    let place = first.folder.path().join("backups");
    let place = place.to_str().unwrap();
    let whole = first.done(&["backup", place]);
    let change = "UPDATE blobs SET packed = (SELECT packed FROM blobs WHERE hash = (SELECT max(hash) FROM blobs \
                  WHERE packed IS NOT NULL) LIMIT 1) WHERE hash = (SELECT min(hash) FROM blobs WHERE packed IS NOT NULL)";
    runtime.block_on(first.change(change));
    // An older backup may hold it whole, and stays.
    let (status, backup) = first.run(&["backup", place, "--keep", "1"]);
    assert_eq!(status, 3, "{backup}");
    assert_eq!(blobs_of(&backup).len(), 1, "{backup}");
    assert_eq!(backup["removed"], json!([]));
    assert!(backup["notRemoved"].as_str().unwrap().contains("older backup"), "{backup}");
    let (status, verified) = first.run(&["backup", "verify", place, "--all"]);
    assert_eq!(status, 3);
    let whole_ones: Vec<bool> =
        [0, 1].map(|n| verified["backups"][n]["ok"].as_bool().unwrap()).to_vec();
    assert_eq!(whole_ones, [true, false], "{verified}");
    assert_eq!(second.run(&["restore", place]).0, 3);
    let (status, restored) = second.run(&["restore", place, "--skip-damaged"]);
    assert_eq!((status, &restored["tables"]), (0, &backup["tables"]), "{restored}");
    assert_eq!(second.run(&["check"]).1["findings"][0]["kind"], "damaged-blob");
    let third = Installation::new(backend);
    let name = whole["name"].as_str().unwrap();
    assert_eq!(third.done(&["restore", place, "--at", name])["check"]["ok"], true);
}

#[test]
fn a_damaged_blob_of_the_database_is_named_and_keeps_older_backups_on_sqlite() {
    damaged_row(Backend::Sqlite);
}

#[test]
fn a_damaged_blob_of_the_database_is_named_and_keeps_older_backups_on_postgres() {
    damaged_row(Backend::Postgres);
}

/// Every file of a folder with its bytes.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files_in(folder).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
}

fn put_back(folder: &Path, before: &BTreeMap<PathBuf, Vec<u8>>) {
    for file in files_in(folder) {
        if !before.contains_key(&file) {
            fs::remove_file(file).unwrap();
        }
    }
    for (file, bytes) in before {
        fs::write(file, bytes).unwrap();
    }
}

/// Damages each piece of a backup in turn: it is found where it lies, and nothing is changed by looking.
fn every_piece(passphrase: Option<&str>) {
    let runtime = runtime();
    let first = filled(&runtime, Backend::Sqlite);
    let folder = first.folder.path().join("backups");
    let place = folder.to_str().unwrap();
    let file = first.folder.path().join("passphrase");
    fs::write(&file, passphrase.unwrap_or_default()).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let sealing: Vec<&str> =
        passphrase.map_or(Vec::new(), |_| vec!["--passphrase-file", file.as_str()]);
    let with = |args: &[&'static str]| -> Vec<String> {
        let all = args.iter().copied().chain([place]).chain(sealing.iter().copied());
        all.map(str::to_owned).collect()
    };
    let run = |args: &[&'static str]| {
        let args = with(args);
        first.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (status, backup) = run(&["backup"]);
    assert_eq!(status, 0, "{backup}");
    let name = backup["name"].as_str().unwrap().to_owned();
    let before = contents(&folder);
    let (status, verified) = run(&["backup", "verify"]);
    assert_eq!((status, &verified["ok"]), (0, &json!(true)), "{verified}");
    assert_eq!(verified["backups"][0]["rows"], backup["rows"]);

    let blob = files_in(&folder.join("blobs"))[0].clone();
    let piece = |ending: &str| folder.join(format!("{name}{ending}"));
    let cut = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    };
    // As many blobs as before, and none of them.
    let other_list: String = (0..backup["blobs"].as_u64().unwrap())
        .map(|n| format!("{}\n", base::files::blobs::Blobs::hash_of(&n.to_be_bytes())))
        .collect();
    type Harm<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let harms: Vec<Harm<'_>> = vec![
        ("a changed blob", Box::new(|| damage(&blob))),
        ("a cut blob", Box::new(|| cut(&blob))),
        ("an empty blob", Box::new(|| fs::write(&blob, b"").unwrap())),
        ("a missing blob", Box::new(|| fs::remove_file(&blob).unwrap())),
        ("no blobs at all", Box::new(|| fs::remove_dir_all(folder.join("blobs")).unwrap())),
        ("changed tables", Box::new(|| damage(&piece(".tables.zst")))),
        ("cut tables", Box::new(|| cut(&piece(".tables.zst")))),
        ("missing tables", Box::new(|| fs::remove_file(piece(".tables.zst")).unwrap())),
        ("a cut manifest", Box::new(|| cut(&piece(".manifest.json")))),
        ("a cut list", Box::new(|| cut(&piece(".blobs")))),
        ("a foreign list", Box::new(|| fs::write(piece(".blobs"), b"x\n\xff\n").unwrap())),
        ("another list", Box::new(|| fs::write(piece(".blobs"), &other_list).unwrap())),
        ("a changed key", Box::new(|| damage(&piece(".secret.key")))),
        ("a cut key", Box::new(|| cut(&piece(".secret.key")))),
        ("an empty key", Box::new(|| fs::write(piece(".secret.key"), b"").unwrap())),
        ("a missing key", Box::new(|| fs::remove_file(piece(".secret.key")).unwrap())),
    ];
    for (what, harm) in &harms {
        harm();
        let harmed = contents(&folder);
        let (status, verified) = run(&["backup", "verify"]);
        assert_eq!((status, &verified["ok"]), (3, &json!(false)), "{what}: {verified}");
        let found = &verified["backups"][0];
        let count = |name: &str| found[name].as_array().unwrap().len();
        assert!(count("faults") + count("damagedBlobs") > 0, "{what}: {verified}");
        assert_eq!(contents(&folder), harmed, "{what}: verifying changes nothing");
        fs::create_dir_all(blob.parent().unwrap()).unwrap();
        for file in before.keys() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
        }
        put_back(&folder, &before);
    }

    // What others put there is in nobody's way.
    fs::write(folder.join("blobs").join("notes.txt"), b"mine").unwrap();
    fs::write(blob.parent().unwrap().join("x"), b"mine").unwrap();
    fs::write(folder.join("README"), b"mine").unwrap();
    assert_eq!(run(&["backup", "verify"]).0, 0);
    let (status, again) = run(&["backup", "--keep=1"]);
    assert_eq!((status, &again["removed"]), (0, &json!([name])), "{again}");
    assert!(blob.parent().unwrap().join("x").exists());
}

#[test]
fn damage_of_every_piece_of_a_backup_is_found_where_it_lies() {
    every_piece(None);
}

#[test]
fn damage_of_every_piece_of_a_sealed_backup_is_found_where_it_lies() {
    every_piece(Some("correct horse"));
}

#[test]
fn a_sealed_backup_is_verified_with_its_passphrase_alone() {
    let first = filled(&runtime(), Backend::Sqlite);
    let place = first.folder.path().join("backups");
    let place = place.to_str().unwrap();
    let file = |name: &str, text: &str| {
        let path = first.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (file("right", "correct horse\n"), file("wrong", "battery staple\n"));
    first.done(&["backup", place, "--passphrase-file", &right]);
    for (args, sentence) in [
        (&["backup", "verify", place][..], "are sealed"),
        (&["backup", "verify", place, "--passphrase-file", &wrong], "not the passphrase"),
        (&["backup", "verify", "/nowhere/at/all"], "holds no backups"),
        (
            &["backup", "verify", place, "--passphrase-file", &right, "--at", "then"],
            "no backup then",
        ),
    ] {
        let (status, refused) = first.run(args);
        assert_eq!(status, 1, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains(sentence), "{refused}");
    }
    first.done(&["backup", "verify", place, "--passphrase-file", &right]);
}

#[test]
fn of_a_backup_with_damaged_tables_nothing_is_taken_and_the_others_are_named() {
    let runtime = runtime();
    let (first, second) = (filled(&runtime, Backend::Sqlite), Installation::new(Backend::Sqlite));
    let folder = first.folder.path().join("backups");
    let place = folder.to_str().unwrap();
    let older = first.done(&["backup", place]);
    let newer = first.done(&["backup", place]);
    let (older, newer) = (older["name"].as_str().unwrap(), newer["name"].as_str().unwrap());
    damage(&folder.join(format!("{newer}.tables.zst")));
    for args in [&["restore", place][..], &["restore", place, "--skip-damaged"]] {
        let (status, refused) = second.run(args);
        assert_eq!(status, 1, "{refused}");
        let sentence = refused["error"].as_str().unwrap();
        assert!(sentence.contains(newer) && sentence.contains(older), "{sentence}");
        assert!(!second.data().join("secret.key").exists());
    }
    fs::write(folder.join(format!("{newer}.manifest.json")), b"{").unwrap();
    let (status, refused) = second.run(&["restore", place]);
    assert_eq!(status, 1);
    assert!(refused["error"].as_str().unwrap().contains(older), "{refused}");
    assert_eq!(second.done(&["restore", place, "--at", older])["check"]["ok"], true);
}

#[test]
fn a_restore_replaces_a_damaged_file_that_lies_in_its_way() {
    let runtime = runtime();
    let (first, second) = (filled(&runtime, Backend::Sqlite), Installation::new(Backend::Sqlite));
    let place = first.folder.path().join("backups");
    let place = place.to_str().unwrap();
    first.done(&["backup", place]);
    let hash = runtime.block_on(file_hashes(&first))[0].clone();
    let there = blob_file(&second, &hash);
    fs::create_dir_all(there.parent().unwrap()).unwrap();
    fs::write(&there, b"damaged").unwrap();
    assert_eq!(second.done(&["restore", place])["check"]["ok"], true);
}

/// A backup whose key is damaged, missing or left out.
fn lost_key(backend: Backend) {
    let (first, second) = (filled(&runtime(), backend), Installation::new(backend));
    let folder = first.folder.path().join("backups");
    let place = folder.to_str().unwrap();
    let backup = first.done(&["backup", place]);
    let key = folder.join(format!("{}.secret.key", backup["name"].as_str().unwrap()));
    let named = json!([format!("{} is damaged", key.file_name().unwrap().to_str().unwrap())]);
    damage(&key);

    // Nothing is restored with it, and everything with the right one.
    let (status, refused) = second.run(&["restore", place]);
    assert_eq!((status, &refused["damagedPieces"]), (3, &named), "{refused}");
    let (status, refused) = second.run(&["restore", place, "--skip-damaged"]);
    assert_eq!((status, &refused["damagedPieces"]), (3, &named), "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("Put the secret.key"), "{refused}");
    assert!(!second.data().join("secret.key").exists());
    fs::copy(first.data().join("secret.key"), second.data().join("secret.key")).unwrap();
    let restored = second.done(&["restore", place, "--skip-damaged"]);
    assert_eq!((&restored["damagedPieces"], &restored["check"]["ok"]), (&named, &json!(true)));

    // Whoever lost it for good gets the tables, and is told what was skipped.
    let third = Installation::new(backend);
    fs::remove_file(&key).unwrap();
    fs::write(third.data().join("secret.key"), [7_u8; 32]).unwrap();
    let (status, unopened) = third.run(&["restore", place, "--skip-damaged"]);
    assert_eq!(status, 1, "{unopened}");
    assert!(unopened["error"].as_str().unwrap().contains("cannot be opened"), "{unopened}");
    assert!(unopened["damagedPieces"][0].as_str().unwrap().contains("missing"), "{unopened}");

    // One that was left out has to be there before, too.
    let fourth = Installation::new(backend);
    first.done(&["backup", place, "--without-key"]);
    for foreign in [None, Some([7_u8; 32])] {
        if let Some(bytes) = foreign {
            fs::write(fourth.data().join("secret.key"), bytes).unwrap();
        }
        let (status, refused) = fourth.run(&["restore", place]);
        assert_eq!(status, 1, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains("Put the secret.key"), "{refused}");
    }
    fs::copy(first.data().join("secret.key"), fourth.data().join("secret.key")).unwrap();
    assert_eq!(fourth.done(&["restore", place])["check"]["ok"], true);
}

#[test]
fn nothing_is_restored_without_the_key_of_the_tables_on_sqlite() {
    lost_key(Backend::Sqlite);
}

#[test]
fn nothing_is_restored_without_the_key_of_the_tables_on_postgres() {
    lost_key(Backend::Postgres);
}

/// Writes a backup inside this process.
async fn write(
    (installation, app): (&Installation, &App),
    passphrase: Option<&str>,
    now: i64,
    progress: BackupProgress,
) -> WrittenBackup {
    let place = installation.folder.path().join("backups");
    let place = BackupPlace::parse(place.to_str().unwrap(), &installation.data()).unwrap();
    let source = BackupSource {
        store: app.store.clone(),
        blobs: app.blobs.clone(),
        ids: app.ids.clone(),
        scope: DumpScope::Installation,
        key_folder: Some(installation.data()),
        progress,
    };
    write_backup(&source, &place, passphrase, None, now).await.unwrap()
}

/// Erases a blob and withdraws an upload while the blobs of a sealed backup are copied.
fn erased_meanwhile(backend: Backend) {
    let runtime = runtime();
    let (first, second) = (filled(&runtime, backend), Installation::new(backend));
    let app = first.app();
    runtime.block_on(ask_for_document(&app, "kim@x.example", b"a walnut"));
    let hash = runtime.block_on(file_hashes(&first))[0].clone();
    let (erasing, erased, handle) = (app.clone(), hash.clone(), runtime.handle().clone());
    let progress = move |number: u64, _: u64| {
        if number == 0 {
            let hash = erased.clone();
            let erase = erasing.store.write(move |tx| {
                tx.exec("DELETE FROM uploads", &[])?;
                tx.exec("DELETE FROM blobs WHERE hash = ?1", &[&hash.as_str()])?;
                Ok::<_, base::error::Error>(())
            });
            handle.block_on(erase).unwrap();
            erasing.blobs.remove_file(&erased).unwrap();
            erasing.blobs.partial_uploads().remove(&UploadId::parse(UPLOAD).unwrap()).unwrap();
        }
    };
    let (own, now) = ((&first, &app), app.clock.now());
    let written = runtime.block_on(write(own, Some("correct horse"), now, Arc::new(progress)));
    assert_eq!(written.damaged, []);
    assert_eq!(written.erased, [hash.as_str(), UPLOAD]);
    let place = first.folder.path().join("backups");
    let manifest = place.join(format!("{}.manifest.json", written.manifest.name));
    let manifest = fs::read_to_string(manifest).unwrap();
    assert!(!manifest.contains(&hash) && !manifest.contains(UPLOAD), "{manifest}");

    // It is named, and no damage.
    let (place, file) = (place.to_str().unwrap(), first.folder.path().join("passphrase"));
    fs::write(&file, "correct horse").unwrap();
    let sealing = ["--passphrase-file", file.to_str().unwrap()];
    let verify = [&["backup", "verify", place][..], &sealing].concat();
    let said = Said::of(first.command(&verify).output().unwrap());
    assert_eq!(said.status, Some(0), "{} {}", said.out, said.err);
    assert!(said.err.contains(&hash) && said.err.contains(UPLOAD), "{}", said.err);
    let restored = second.done(&[&["restore", place][..], &sealing].concat());
    assert_eq!(restored["erasedBlobs"], json!([hash, UPLOAD]), "{restored}");
    assert_eq!(restored["damagedBlobs"], json!([]));
}

#[test]
fn what_is_erased_while_a_backup_is_written_is_no_damage_on_sqlite() {
    erased_meanwhile(Backend::Sqlite);
}

#[test]
fn what_is_erased_while_a_backup_is_written_is_no_damage_on_postgres() {
    erased_meanwhile(Backend::Postgres);
}

const DAY: i64 = 24 * 60 * 60 * 1_000;
/// The days in which daily backups verify every blob of a place once.
const TURN: i64 = 11;

/// Blobs are damaged where the backups lie.
fn damaged_place(backend: Backend) {
    let runtime = runtime();
    let first = filled(&runtime, backend);
    let app = first.app();
    let mut today = app.clock.now();
    let mut write_next = || {
        today += DAY;
        runtime.block_on(write((&first, &app), None, today, Arc::new(|_, _| {})))
    };
    assert!(write_next().new_blobs >= 4);
    let hashes = runtime.block_on(file_hashes(&first));
    let folder = first.folder.path().join("backups");
    let stored = |hash: &str| folder.join("blobs").join(&hash[..2]).join(hash);
    let whole: Vec<Vec<u8>> = hashes.iter().map(|hash| fs::read(stored(hash)).unwrap()).collect();
    hashes.iter().for_each(|hash| damage(&stored(hash)));
    let mut repaired = Vec::new();
    for _ in 0..TURN {
        let written = write_next();
        assert!(written.new_blobs == 0 && written.damaged.is_empty());
        repaired.extend(written.repaired);
    }
    repaired.sort();
    assert_eq!(repaired, hashes, "each was written anew once");
    let now: Vec<Vec<u8>> = hashes.iter().map(|hash| fs::read(stored(hash)).unwrap()).collect();
    assert!(now == whole);

    // One that is damaged here too is named from the day on that finds it.
    damage(&stored(&hashes[0]));
    damage(&blob_file(&first, &hashes[0]));
    let faults: Vec<usize> = (0..TURN).map(|_| write_next().damaged.len()).collect();
    assert!(faults.is_sorted() && faults.last() == Some(&1), "{faults:?}");
    assert!(stored(&format!("{}.damaged", hashes[0])).exists(), "what is left of it stays");
}

#[test]
fn blobs_that_are_damaged_in_the_place_of_backups_are_written_anew_on_sqlite() {
    damaged_place(Backend::Sqlite);
}

#[test]
fn blobs_that_are_damaged_in_the_place_of_backups_are_written_anew_on_postgres() {
    damaged_place(Backend::Postgres);
}
