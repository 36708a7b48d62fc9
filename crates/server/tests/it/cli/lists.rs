//! Commands that only read wait for nobody who writes.

use std::sync::mpsc::channel;

use super::Operator;

#[test]
fn lists_are_printed_while_another_process_writes() {
    let operator = Operator::set_up();
    let url = format!("sqlite:{}", operator.data().join("mailroom.db").display());
    let store =
        db::Store::open(&url, &db::StoreOptions::default(), model::schema::MIGRATIONS).unwrap();
    let (begun, has_begun) = channel();
    let (end, may_end) = channel::<()>();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let writing = runtime.spawn(async move {
        store
            .write(move |tx| {
                tx.exec("UPDATE workspaces SET name = name", &[])?;
                let _ = (begun.send(()), may_end.recv());
                Ok::<_, db::StoreError>(())
            })
            .await
    });
    has_begun.recv().unwrap();
    for list in [
        &["user", "list"][..],
        &["key", "list"],
        &["mailbox", "list"],
        &["webhook", "list"],
        &["service", "list"],
        &["answer", "list"],
        &["domain", "list"],
        &["workspace", "list"],
        &["quiet", "status"],
    ] {
        operator.json(list);
    }
    end.send(()).unwrap();
    runtime.block_on(writing).unwrap().unwrap();
}
