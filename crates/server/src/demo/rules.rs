//! The rules and office hours of the sample workspace, made after its mail: they act on what comes next.

use actions::inboxes::office_hours::{self, OfficeHoursInput};
use actions::workspace::rules::{self, RuleInput};
use base::app::Cx;
use base::error::Result;
use db::Tx;
use model::mailboxes;

/// Name, conditions, acts, and whether it is switched on.
type SampleRule = (&'static str, &'static [[&'static str; 3]], &'static [[&'static str; 2]], bool);

const RULES: [SampleRule; 3] = [
    (
        "Automatic mail aside",
        &[["automatic", "is", "yes"]],
        &[["tag", "automatic"], ["close", ""]],
        true,
    ),
    ("Returns are urgent", &[["topic", "is", "Returns"]], &[["urgency", "high"]], true),
    ("Everybody in turn", &[["inbox", "is", "Support"]], &[["assign", "everybody in turn"]], false),
];

pub fn set_up(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    for (name, conditions, acts, on) in RULES {
        let words = |[field, how, value]: &[&str; 3]| {
            ((*field).to_owned(), (*how).to_owned(), (*value).to_owned())
        };
        let input = RuleInput {
            name: name.into(),
            event: "mail-arrives".into(),
            conditions: conditions.iter().map(words).collect(),
            acts: acts
                .iter()
                .map(|[act, value]| ((*act).to_owned(), (*value).to_owned()))
                .collect(),
            ..RuleInput::default()
        };
        let id = rules::add_rule(tx, cx, &input)?;
        rules::switch_rule(tx, cx, &id, on)?;
    }
    let inboxes = mailboxes::all_seen_by(tx, cx.actor)?;
    let Some(support) = inboxes.iter().find(|inbox| inbox.name == "Support") else {
        return Ok(());
    };
    let hours = OfficeHoursInput {
        weekly: "mon-thu 08:00-17:00; fri 08:00-15:00".into(),
        zone: "Europe/Zurich".into(),
        place: "CH-ZH".into(),
        answer: "4 h".into(),
        answer_urgent: "1 h".into(),
        resolve: "40 h".into(),
        ..OfficeHoursInput::default()
    };
    office_hours::set_office_hours(tx, cx, &support.id, &hours)
}
