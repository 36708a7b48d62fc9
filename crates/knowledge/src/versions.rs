//! The history of an answer: what it said after each change, and who changed it.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::AnswerId;
use base::limits::ANSWER_VERSIONS;
use base::string_enum::string_enum;
use db::Tx;
use model::messages::answers::{HelpState, TeamAnswer};

string_enum! {
    /// What was done to an answer.
    AnswerAct {
        Begun = "begun",
        Changed = "changed",
        Checked = "checked",
        Published = "published",
        Unpublished = "unpublished",
        Retired = "retired",
        UsedAgain = "used-again",
    }
}

impl AnswerAct {
    /// What the history says after the name of who did it.
    pub fn did(self) -> &'static str {
        match self {
            AnswerAct::Begun => "wrote it",
            AnswerAct::Changed => "changed it",
            AnswerAct::Checked => "looked at it: it still holds",
            AnswerAct::Published => "made it public",
            AnswerAct::Unpublished => "took it off the help pages",
            AnswerAct::Retired => "retired it",
            AnswerAct::UsedAgain => "put it into use again",
        }
    }
}

db::row! {
    /// An answer as it was after a change.
    #[derive(Clone, Debug)]
    pub struct AnswerVersion from "v" {
        pub number: i64,
        pub at: i64,
        pub by_name: String,
        pub act: AnswerAct,
        pub title: String,
        pub body: String,
        pub help_body: String,
        pub section: String,
        pub state: HelpState,
    }
}

impl AnswerVersion {
    /// True where both say the same.
    pub fn says_the_same(&self, other: &AnswerVersion) -> bool {
        let words = |one: &AnswerVersion| {
            (one.title.clone(), one.body.clone(), one.help_body.clone(), one.section.clone())
        };
        words(self) == words(other)
    }
}

/// Writes down what the answer says now. The oldest versions go when there are many.
pub fn record(tx: &mut Tx<'_>, cx: &Cx<'_>, answer: &TeamAnswer, act: AnswerAct) -> Result<()> {
    let ws = cx.actor.ws;
    let (newest,): (i64,) = tx.one(
        "SELECT coalesce(max(number), 0) FROM answer_versions WHERE ws = ?1 AND answer = ?2",
        &[&ws, &answer.id],
    )?;
    tx.exec(
        "INSERT INTO answer_versions (
            ws, answer, number, at, by_name, act, title, body, help_body, section, state
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        &[
            &ws,
            &answer.id,
            &(newest + 1),
            &cx.now,
            &cx.actor.name(),
            &act,
            &answer.title,
            &answer.body,
            &answer.help_body,
            &answer.section,
            &answer.help_state,
        ],
    )?;
    tx.exec(
        "DELETE FROM answer_versions WHERE ws = ?1 AND answer = ?2 AND number <= ?3",
        &[&ws, &answer.id, &(newest + 1 - ANSWER_VERSIONS)],
    )?;
    Ok(())
}

/// Writes down what an answer said before its first change, where nobody did so when it was written.
pub fn record_earlier(tx: &mut Tx<'_>, cx: &Cx<'_>, answer: &TeamAnswer) -> Result<()> {
    let any: Option<(i64,)> = tx.opt(
        "SELECT number FROM answer_versions WHERE ws = ?1 AND answer = ?2 LIMIT 1",
        &[&cx.actor.ws, &answer.id],
    )?;
    if any.is_some() {
        return Ok(());
    }
    tx.exec(
        "INSERT INTO answer_versions (
            ws, answer, number, at, by_name, act, title, body, help_body, section, state
         ) VALUES (?1, ?2, 1, ?3, '', ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            &cx.actor.ws,
            &answer.id,
            &answer.changed_at,
            &AnswerAct::Begun,
            &answer.title,
            &answer.body,
            &answer.help_body,
            &answer.section,
            &answer.help_state,
        ],
    )?;
    Ok(())
}

/// Forgets what an answer said before.
pub fn forget(tx: &mut Tx<'_>, ws: i64, answer: &AnswerId) -> Result<()> {
    tx.exec("DELETE FROM answer_versions WHERE ws = ?1 AND answer = ?2", &[&ws, answer])?;
    Ok(())
}

/// The versions of an answer that the actor was checked to see, the newest first.
pub fn all(tx: &mut Tx<'_>, ws: i64, answer: &AnswerId) -> Result<Vec<AnswerVersion>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM answer_versions v WHERE v.ws = ?1 AND v.answer = ?2
             ORDER BY v.number DESC LIMIT ?3",
            AnswerVersion::COLUMNS
        ),
        &[&ws, answer, &ANSWER_VERSIONS],
    )?)
}

/// One of them.
pub fn one(tx: &mut Tx<'_>, ws: i64, answer: &AnswerId, number: i64) -> Result<AnswerVersion> {
    let found = tx.opt(
        &format!(
            "SELECT {} FROM answer_versions v WHERE v.ws = ?1 AND v.answer = ?2 AND v.number = ?3",
            AnswerVersion::COLUMNS
        ),
        &[&ws, answer, &number],
    )?;
    found.ok_or(Error::NotFound("version"))
}
