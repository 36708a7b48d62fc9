//! A whole workspace as files: every conversation once, with its tags, notes, mails and files.

use std::fs;
use std::path::Path;

use api::operations::ReplyInput;
use api::operations::reply;
use serde_json::Value;
use server::demo;
use testing::{Backend, raw};

use super::super::backups::{INBOX, Installation, receive};

fn lines(folder: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn mails_in(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let counted = entries.map(|path| match path.is_dir() {
        true => mails_in(&path),
        false => usize::from(path.extension().is_some_and(|ending| ending == "eml")),
    });
    counted.sum()
}

fn a_workspace_is_written_whole(backend: Backend) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let installation = Installation::new(backend);
    let count = |sql: &'static str| {
        let store = testing::open(&installation.database.url);
        let counted = store.read(move |tx| tx.one::<(i64,)>(sql, &[]));
        runtime.block_on(counted).map(|(count,)| count as usize).unwrap()
    };
    runtime.block_on(async {
        let app = installation.app();
        demo::fill(&app).await.unwrap();
        let mail = raw("kim@x.example", "Brass hinges", "The word is snollygoster");
        receive(&app, mail.into_bytes()).await;
    });
    let to = installation.folder.path().join("out");
    let done = installation.done(&["export", "--workspace", "--to", to.to_str().unwrap()]);
    let conversations = lines(&to, "conversations.jsonl");
    let there = count("SELECT count(*) FROM conversations WHERE circle <> 'sandbox'");
    assert_eq!((conversations.len(), done["conversations"].as_u64()), (there, Some(there as u64)));
    let of_kim = conversations.iter().filter(|line| line["contact_email"] == "kim@x.example");
    let of_kim: Vec<&Value> = of_kim.collect();
    assert_eq!(of_kim.len(), 1);
    let text = of_kim[0]["messages"][0]["text"].as_str().unwrap();
    assert!(text.contains("snollygoster"), "{text}");
    let has = |name: &str| conversations.iter().any(|line| line[name] != serde_json::json!([]));
    assert!(has("tags") && has("notes") && has("timeline"));
    let originals = count(
        "SELECT count(*) FROM messages m JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation
         WHERE m.raw_hash IS NOT NULL AND c.circle <> 'sandbox'",
    );
    assert_eq!(mails_in(&to.join("conversations")), originals);
    let inboxes = lines(&to, "inboxes.jsonl");
    assert!(inboxes.iter().any(|inbox| inbox["address"] == INBOX), "{inboxes:?}");
    assert_eq!(lines(&to, "contacts.jsonl").len(), count("SELECT count(*) FROM contacts"));
    // The folder is not written to twice, and something must be named.
    let (status, refused) =
        installation.run(&["export", "--workspace", "--to", to.to_str().unwrap()]);
    assert!(status == 1 && refused["error"].as_str().unwrap().contains("there already"));
    assert_eq!(installation.run(&["export"]).0, 2);
}

fn words_in(folder: &Path, word: &str) -> bool {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return words_in(&path, word);
        }
        String::from_utf8_lossy(&fs::read(path).unwrap()).contains(word)
    })
}

#[test]
fn protected_words_are_in_an_export_only_where_they_are_asked_for() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let installation = Installation::new(Backend::Sqlite);
    runtime.block_on(async {
        let app = installation.app();
        demo::fill(&app).await.unwrap();
        let mail = raw("kim@x.example", "Hinges", "How many?");
        receive(&app, mail.into_bytes()).await;
        let found = app.store.read(|tx| {
            let (ws, email): (i64, String) =
                tx.one("SELECT ws, email FROM users WHERE role = 'owner' LIMIT 1", &[])?;
            let (id,): (String,) =
                tx.one("SELECT id FROM conversations WHERE contact_email = 'kim@x.example'", &[])?;
            Ok::<_, base::error::Error>((base::actor::person(tx, ws, &email)?, id))
        });
        let (owner, id) = found.await.unwrap();
        let input = ReplyInput {
            id,
            body: "The word is taradiddle".into(),
            secure: Some(true),
            ..ReplyInput::default()
        };
        app.act(&owner, move |tx, cx| reply(tx, cx, input.clone())).await.unwrap();
    });
    for (flag, is_there) in [(None, false), (Some("--protected"), true)] {
        let to = installation.folder.path().join(flag.unwrap_or("plain"));
        let mut args = vec!["export", "--workspace", "--to", to.to_str().unwrap()];
        args.extend(flag);
        installation.done(&args);
        assert_eq!(words_in(&to, "taradiddle"), is_there, "{flag:?}");
    }
}

#[test]
fn a_workspace_is_written_whole_from_sqlite() {
    a_workspace_is_written_whole(Backend::Sqlite);
}

#[test]
fn a_workspace_is_written_whole_from_postgres() {
    a_workspace_is_written_whole(Backend::Postgres);
}
