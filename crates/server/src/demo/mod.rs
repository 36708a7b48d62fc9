//! A sample workspace for `mailroom demo`: a small maker of lamps and furniture, three weeks of
//! its mail, an agent whose drafts wait for a person, and answers that a helper drafts from.

mod answers;
mod bookings;
mod builder;
mod contacts;
mod files;
mod notifications;
mod people;
mod queues;
mod rules;
mod scenario;
mod scenarios;
mod topics;

use actions::inboxes::first_steps;
use base::app::App;
use base::error::{Error, Result};
use base::ids::WorkspaceId;
use base::limits::DAY_MS;

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

/// Fills an empty store, in one transaction: a demo that was interrupted leaves nothing behind.
/// Everything gets the time at which it would have happened, up to the present.
pub async fn fill(app: &App) -> Result<Sample> {
    let now = app.clock.now();
    let data =
        scenarios::sample_data().map_err(|sentence| Error::invalid("scenarios", sentence))?;
    let blobs = builder::read_files(data, &app.blobs)
        .map_err(|error| Error::invalid("blobs", error.to_string()))?;
    let script = builder::script(data, now);
    let app = app.clone();
    let store = app.store.clone();
    let play = move |tx: &mut db::Tx<'_>| {
        let people = people::assemble(tx, &app, now - BEGINS_DAYS_AGO * DAY_MS)?;
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
        notifications::set_up(tx, &app, now, &people)?;
        bookings::add(tx, &app.cx(owner), builder.conversation(bookings::BOOKED))?;
        queues::add(tx, &app, now, &people, builder.conversation(queues::FAILED))?;
        Ok(people.sample)
    };
    store.write(play).await
}

#[cfg(test)]
mod tests;
