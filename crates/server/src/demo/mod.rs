//! A sample workspace for `mailroom demo`: a small maker of lamps and furniture, three weeks of
//! its mail, an agent whose drafts wait for a person, and answers that a helper drafts from.

mod answers;
mod bookings;
mod builder;
mod contacts;
mod files;
mod forms;
mod help_pages;
mod notifications;
mod people;
pub mod public;
mod queues;
mod rules;
mod saved_replies;
mod scenario;
mod scenarios;
mod topics;

use std::sync::Arc;

use actions::inboxes::first_steps;
use actions::workspace::samples::{find_sample, mark_sample, take_sample_turn};
use base::app::App;
use base::concurrency::future::BoxFuture;
use base::error::{Error, Result};
use base::ids::WorkspaceId;
use base::limits::DAY_MS;
use base::workspaces::resting;
use base::workspaces::samples::SAMPLE_OF_NONE;
use web::FillSample;

use builder::DemoBuilder;
use scenario::SampleMember;

/// The workspace is made before its first mail, which is almost three weeks old.
const BEGINS_DAYS_AGO: i64 = 21;

/// What a newcomer needs to look around.
pub struct Sample {
    pub workspace: WorkspaceId,
    pub owner_email: String,
    /// Robo's key: everything in the team's inboxes and in Ines' own.
    pub live_key: String,
    /// The same in the sandbox.
    pub test_key: String,
    /// Reporter's key, which may only read.
    pub read_key: String,
}

/// Where a sample workspace is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplePlace {
    /// Alone in an installation of its own: that of `mailroom demo`.
    Alone,
    /// Beside others, marked as a sample: in the workspace with this number, or before there is any.
    In(i64),
}

/// Fills in a sample workspace, in one transaction: a demo that was interrupted leaves nothing behind.
/// Everything gets the time at which it would have happened, up to the present.
pub async fn fill(app: &App) -> Result<Sample> {
    fill_at(app, SamplePlace::Alone).await
}

/// The same at a place.
pub async fn fill_at(app: &App, place: SamplePlace) -> Result<Sample> {
    let now = app.clock.now();
    let data =
        scenarios::sample_data().map_err(|sentence| Error::invalid("scenarios", sentence))?;
    let blobs = builder::read_files(data, &app.blobs)
        .map_err(|error| Error::invalid("blobs", error.to_string()))?;
    let script = builder::script(data, now);
    let app = app.clone();
    let store = app.store.clone();
    let play = move |tx: &mut db::Tx<'_>| {
        if let SamplePlace::In(of) = place
            && of >= SAMPLE_OF_NONE
        {
            must_be_first(tx, of)?;
        }
        let people = people::assemble(tx, &app, now - BEGINS_DAYS_AGO * DAY_MS, place)?;
        let mut builder = DemoBuilder::new(&app, now, &people, data, &blobs);
        for scene in &script {
            builder.play(tx, scene)?;
        }
        if let Some(conversation) = builder.conversation(answers::DRAFTED) {
            answers::draft_reply(tx, &app, now, &people, conversation)?;
        }
        // Everything is set up: the first steps are long over.
        let owner = people.member(SampleMember::Ines);
        first_steps::end_first_steps(tx, &app.cx(owner))?;
        topics::teach(tx, &app.cx(owner))?;
        rules::set_up(tx, &app.cx(owner))?;
        contacts::note(tx, &app.cx(owner))?;
        forms::add(tx, &app.cx(owner), place)?;
        help_pages::open(tx, &app.cx(owner))?;
        contacts::fill_fields(tx, &app.cx(owner))?;
        saved_replies::add(tx, &app.cx(owner))?;
        notifications::set_up(tx, &app, now, &people)?;
        evals::add_samples(tx, &app.cx(owner))?;
        bookings::add(tx, &app.cx(owner), builder.conversation(bookings::BOOKED))?;
        queues::add(tx, &app, now, &people, builder.conversation(queues::FAILED))?;
        if let SamplePlace::In(of) = place {
            mark_sample(tx, &app.cx(owner), &people.sample.workspace, of)?;
        }
        Ok(people.sample)
    };
    store.write(play).await
}

/// Refuses a second sample, also of two that are made at once, and one in a workspace that is closed.
fn must_be_first(tx: &mut db::Tx<'_>, of: i64) -> Result<()> {
    take_sample_turn(tx, of)?;
    resting::must_be_open(tx, of)?;
    match find_sample(tx, of)? {
        Some(_) => Err(Error::Conflict("There is a sample already.".into())),
        None => Ok(()),
    }
}

/// Makes samples from the app: on the page of the first run, and in a workspace. Nothing leaves them, so
/// their messages are sent where no relay is configured, too.
pub fn sample_filler() -> FillSample {
    Arc::new(|app: App, of: i64| -> BoxFuture<'static, Result<()>> {
        let app = App { has_relay: true, ..app };
        Box::pin(async move { fill_at(&app, SamplePlace::In(of)).await.map(drop) })
    })
}

#[cfg(test)]
mod tests;
