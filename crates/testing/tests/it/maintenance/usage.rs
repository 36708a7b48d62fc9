//! What a workspace holds is counted for each, and for each alone.

use maintenance::workspace_usage::{WorkspaceUsage, workspace_usage};
use testing::{TestApp, file, letter, on_both};

use super::sweep::noise;

on_both!(the_usage_of_a_workspace_counts_its_conversations_messages_and_bytes);

async fn usage(app: &TestApp) -> Vec<WorkspaceUsage> {
    app.app.store.read(workspace_usage).await.unwrap()
}

async fn the_usage_of_a_workspace_counts_its_conversations_messages_and_bytes(app: TestApp) {
    let before = usage(&app).await;
    let [empty] = before.as_slice() else { panic!("{before:?}") };
    let mut mail = letter("ann@x.example", "Invoice", "text");
    mail.attachments = vec![file("large.txt", &noise(1)), file("small.txt", b"small")];
    app.deliver(&app.support, mail).await;
    app.mail("bob@x.example", "Lamp", "It is broken").await;
    let after = usage(&app).await;
    let [held] = after.as_slice() else { panic!("{after:?}") };
    assert_eq!(held.ws, app.owner.ws);
    assert_eq!(held.conversations - empty.conversations, 2);
    assert_eq!(held.messages - empty.messages, 2);
    assert_eq!(held.blobs - empty.blobs, 2);
    assert_eq!(held.blob_bytes - empty.blob_bytes, 300_000 + 5);
    assert!(held.rows >= empty.rows + 6, "{held:?}");
}
