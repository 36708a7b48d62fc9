//! Commits that writes share, which only SQLite has: one thread writes, so a closure that is held
//! lets others queue up behind it, and when it is done they are committed together.

use std::pin::Pin;
use std::sync::mpsc;
use std::task::Poll;

use db::{Store, StoreError, StoreOptions, Tx};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::harness::{Database, Failure, NONE, insert, stored};

on_sqlite! {
    writes_that_queue_up_share_one_commit,
    who_comes_while_a_batch_runs_is_in_the_next,
    a_batch_of_one_gives_each_write_its_own_commit,
    a_write_that_fails_does_not_touch_its_neighbours,
    a_write_does_not_see_what_a_failed_neighbour_wrote,
    when_the_disk_is_full_only_what_was_acknowledged_is_there,
    what_must_last_is_not_committed_with_what_need_not,
    what_a_neighbour_put_off_can_be_cancelled,
}

async fn writes_that_queue_up_share_one_commit(db: &Database) {
    let store = db.open();
    let mut gate = Held::gate(&store).await;
    let mut first = Answer::of(&store, |tx| Ok(insert(tx, 1)?)).await;
    let mut second = Held::queued(&store, |tx| Ok(insert(tx, 2)?)).await;
    gate.let_go();

    second.begun().await;
    assert!(first.is_waiting().await, "answered before the commit");
    assert_eq!(stored(&store).await, NONE, "committed alone");
    second.let_go();
    first.get().await.unwrap();
    second.answer.get().await.unwrap();
    assert_eq!(stored(&store).await, [1, 2]);
}

async fn who_comes_while_a_batch_runs_is_in_the_next(db: &Database) {
    let store = db.open();
    let mut first = Held::new(&store, |tx| Ok(insert(tx, 1)?)).await;
    let mut second = Held::queued(&store, |tx| Ok(insert(tx, 2)?)).await;
    first.let_go();

    second.begun().await;
    first.answer.get().await.unwrap();
    assert_eq!(stored(&store).await, [1]);
    second.let_go();
    second.answer.get().await.unwrap();
    assert_eq!(stored(&store).await, [1, 2]);
}

async fn a_batch_of_one_gives_each_write_its_own_commit(db: &Database) {
    let store = db.open_with(&StoreOptions { commit_batch: 1, ..StoreOptions::default() });
    let mut gate = Held::gate(&store).await;
    let first = Answer::of(&store, |tx| Ok(insert(tx, 1)?)).await;
    let mut second = Held::queued(&store, |tx| Ok(insert(tx, 2)?)).await;
    gate.let_go();

    second.begun().await;
    first.get().await.unwrap();
    assert_eq!(stored(&store).await, [1]);
    second.let_go();
    second.answer.get().await.unwrap();
    assert_eq!(stored(&store).await, [1, 2]);
}

async fn what_must_last_is_not_committed_with_what_need_not(db: &Database) {
    let store = db.open();
    let mut write_relaxed = Held::jotted(&store, |tx| Ok(insert(tx, 1)?)).await;
    write_relaxed.begun().await;
    let mut write = Held::queued(&store, |tx| Ok(insert(tx, 2)?)).await;
    let mut last = Held::jotted(&store, |tx| Ok(insert(tx, 3)?)).await;
    write_relaxed.let_go();

    write.begun().await;
    write_relaxed.answer.get().await.unwrap();
    assert_eq!(stored(&store).await, [1]);
    write.let_go();
    last.begun().await;
    assert!(write.answer.is_waiting().await, "committed without what queued up behind it");
    last.let_go();
    write.answer.get().await.unwrap();
    last.answer.get().await.unwrap();
    assert_eq!(stored(&store).await, [1, 2, 3]);
}

async fn a_write_that_fails_does_not_touch_its_neighbours(db: &Database) {
    let store = db.open();
    let mut gate = Held::gate(&store).await;
    let first = Answer::of(&store, |tx| Ok(insert(tx, 1)?));
    let own = Answer::of(&store, |tx| {
        insert(tx, 2)?;
        Err::<(), _>(Failure::Own(2))
    });
    let third = Answer::of(&store, |tx| Ok(insert(tx, 3)?));
    let duplicate = Answer::of(&store, |tx| {
        insert(tx, 4)?;
        Ok(insert(tx, 1)?)
    });
    let panicked = Answer::<()>::of(&store, |tx| {
        insert(tx, 5)?;
        panic!("told to panic")
    });
    let last = Answer::of(&store, |tx| Ok(insert(tx, 6)?));
    let (first, own, third) = (first.await, own.await, third.await);
    let (duplicate, panicked, last) = (duplicate.await, panicked.await, last.await);
    gate.let_go();

    first.get().await.unwrap();
    assert!(matches!(own.get().await, Err(Failure::Own(2))));
    third.get().await.unwrap();
    assert!(matches!(duplicate.get().await, Err(Failure::Store(StoreError::Sqlite(_)))));
    assert!(matches!(panicked.get().await, Err(Failure::Store(StoreError::Panicked))));
    last.get().await.unwrap();
    assert_eq!(stored(&store).await, [1, 3, 6]);
}

async fn a_write_does_not_see_what_a_failed_neighbour_wrote(db: &Database) {
    let store = db.open();
    let mut gate = Held::gate(&store).await;
    let first = Answer::of(&store, |tx| {
        insert(tx, 1)?;
        Err::<(), _>(Failure::Own(1))
    })
    .await;
    let second = Answer::of(&store, |tx| {
        let (count,): (i64,) = tx.one("SELECT count(*) FROM numbers", &[])?;
        Ok(count)
    })
    .await;
    gate.let_go();
    assert!(matches!(first.get().await, Err(Failure::Own(1))));
    assert_eq!(second.get().await.unwrap(), 0);
}

async fn when_the_disk_is_full_only_what_was_acknowledged_is_there(db: &Database) {
    let store = db.open();
    store.write(|tx| insert(tx, 0)).await.unwrap();
    let mut gate = Held::gate(&store).await;
    let before = Answer::of(&store, |tx| Ok(insert(tx, 1)?)).await;
    let fills = Answer::of(&store, |tx| {
        insert(tx, 2)?;
        limit_pages(tx, 1)?;
        let big = vec![7_u8; 1 << 20];
        Ok(tx.exec("INSERT INTO samples (id, bytes) VALUES (1, ?1)", &[&big])?)
    })
    .await;
    let after = Answer::of(&store, |tx| Ok(insert(tx, 3)?)).await;
    gate.let_go();

    let mut acknowledged = vec![0];
    for (n, outcome) in
        [(1, before.get().await), (2, fills.get().await.map(drop)), (3, after.get().await)]
    {
        if outcome.is_ok() {
            acknowledged.push(n);
        }
    }
    assert!(!acknowledged.contains(&2), "the disk was not full");
    assert_eq!(stored(&store).await, acknowledged);

    store.write(|tx| limit_pages(tx, 1 << 30)).await.unwrap();
    store.write(|tx| insert(tx, 4)).await.unwrap();
    assert_eq!(stored(&store).await.last(), Some(&4));
}

async fn what_a_neighbour_put_off_can_be_cancelled(db: &Database) {
    const COUNT: &str = "INSERT INTO counters (n, name) VALUES (?1, ?2)";
    let store = db.open();
    let put_off =
        |n: i64| move |tx: &mut Tx<'_>| Ok(tx.exec_last(COUNT, n, format!("put off {n}"))?);
    let mut gate = Held::gate(&store).await;
    let first = Answer::of(&store, put_off(1)).await;
    let second = Answer::of(&store, put_off(2)).await;
    let third = Answer::of(&store, put_off(3)).await;
    let cancels = Answer::of(&store, |tx| {
        tx.cancel_last(COUNT, 1);
        Ok(())
    })
    .await;
    let writes_itself = Answer::of(&store, |tx| {
        tx.cancel_last(COUNT, 2);
        Ok(tx.exec(COUNT, &[&2_i64, &"written"])?)
    })
    .await;
    let fails = Answer::of(&store, |tx| {
        tx.cancel_last(COUNT, 3);
        Err::<(), _>(Failure::Own(3))
    })
    .await;
    let changes_its_mind = Answer::of(&store, move |tx| {
        tx.exec_last(COUNT, 4, "first".to_owned())?;
        tx.cancel_last(COUNT, 4);
        Ok(tx.exec_last(COUNT, 4, "second".to_owned())?)
    })
    .await;
    gate.let_go();

    for done in [first, second, third, cancels, changes_its_mind] {
        done.get().await.unwrap();
    }
    assert_eq!(writes_itself.get().await.unwrap(), 1);
    assert!(matches!(fails.get().await, Err(Failure::Own(3))));
    let names: Vec<(String,)> =
        store.read(|tx| tx.all("SELECT name FROM counters ORDER BY n", &[])).await.unwrap();
    let names: Vec<String> = names.into_iter().map(|(name,)| name).collect();
    assert_eq!(names, ["written", "put off 3", "second"]);
}

/// Makes the database as large as it may get; a limit below its size stops it from growing.
fn limit_pages(tx: &mut Tx<'_>, pages: i64) -> Result<(), StoreError> {
    tx.all::<(i64,)>(&format!("PRAGMA max_page_count = {pages}"), &[]).map(drop)
}

/// A write whose closure has run its statements and waits inside its transaction.
struct Held<T> {
    answer: Answer<T>,
    begun: UnboundedReceiver<()>,
    gate: Option<mpsc::Sender<()>>,
}

impl Held<()> {
    /// Holds the writing thread and writes nothing, so that others queue up.
    async fn gate(store: &Store) -> Self {
        Self::new(store, |_| Ok(())).await
    }
}

impl<T: Send + 'static> Held<T> {
    /// Starts a write and waits until its closure holds the writing thread.
    async fn new(
        store: &Store,
        work: impl FnMut(&mut Tx<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Self {
        let mut held = Self::queued(store, work).await;
        held.begun().await;
        held
    }

    /// Puts a write into the queue; its closure will hold the writing thread when its turn comes.
    async fn queued(
        store: &Store,
        work: impl FnMut(&mut Tx<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Self {
        let (work, begun, gate) = holding(work);
        Held { answer: Answer::of(store, work).await, begun, gate: Some(gate) }
    }

    /// The same, with a write that need not wait for the disk.
    async fn jotted(
        store: &Store,
        work: impl FnMut(&mut Tx<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Self {
        let (work, begun, gate) = holding(work);
        let store = store.clone();
        let answer = Answer::to(async move { store.write_relaxed(work).await }).await;
        Held { answer, begun, gate: Some(gate) }
    }

    async fn begun(&mut self) {
        self.begun.recv().await.expect("the closure begins");
    }

    fn let_go(&mut self) {
        self.gate = None;
    }
}

/// A closure that tells when it has done its work, and then waits until its gate is dropped.
fn holding<T>(
    mut work: impl FnMut(&mut Tx<'_>) -> Result<T, Failure> + Send + 'static,
) -> (
    impl FnMut(&mut Tx<'_>) -> Result<T, Failure> + Send + 'static,
    UnboundedReceiver<()>,
    mpsc::Sender<()>,
) {
    let (begin, begun) = unbounded_channel();
    let (gate, closed) = mpsc::channel::<()>();
    let held = move |tx: &mut Tx<'_>| {
        let result = work(tx);
        let _ = begin.send(());
        let _ = closed.recv();
        result
    };
    (held, begun, gate)
}

/// What a queued write will answer.
struct Answer<T>(Pin<Box<dyn Future<Output = Result<T, Failure>>>>);

impl<T: Send + 'static> Answer<T> {
    /// Puts a write into the queue, behind a closure that holds the writing thread.
    async fn of(
        store: &Store,
        work: impl FnMut(&mut Tx<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Self {
        let store = store.clone();
        Self::to(async move { store.write(work).await }).await
    }

    async fn to(asked: impl Future<Output = Result<T, Failure>> + 'static) -> Self {
        let mut answer = Answer(Box::pin(asked));
        assert!(answer.is_waiting().await, "answered at once");
        answer
    }

    /// Looks once; the first look is what puts the closure into the queue.
    async fn is_waiting(&mut self) -> bool {
        std::future::poll_fn(|context| Poll::Ready(self.0.as_mut().poll(context).is_pending()))
            .await
    }

    async fn get(self) -> Result<T, Failure> {
        self.0.await
    }
}
