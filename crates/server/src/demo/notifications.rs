//! What the people of the sample workspace are told of, and when.

use actions::people::notifications::{
    NoticeSettingsInput, QUIET_DAYS, choose_inbox_notices, choose_notices, set_notice_settings,
};
use base::app::{App, Cx};
use base::error::Result;
use db::Tx;
use model::people::notifications::choices::{
    MailNotice, NoticeChoice, NoticeKind, OwnNoticeChoice,
};

use super::people::SamplePeople;
use super::scenario::{SampleInbox, SampleMember};

/// Ines gets a digest of what waits for approval, and Priya one of new conversations in Support; Jonas approves
/// drafts from their mail. All have quiet hours.
pub fn set_up(tx: &mut Tx<'_>, app: &App, now: i64, people: &SamplePeople) -> Result<()> {
    let ines = &Cx { now, ..app.cx(people.member(SampleMember::Ines)) };
    let digest = NoticeChoice { browser: true, mail: MailNotice::Digest };
    choose_notices(tx, ines, &[(NoticeKind::DraftWaits, digest)])?;
    set_notice_settings(tx, ines, &working_week("18:30", "07:30"))?;
    let priya = &Cx { now, ..app.cx(people.member(SampleMember::Priya)) };
    let new = OwnNoticeChoice {
        kind: NoticeKind::NewConversation,
        browser: Some(true),
        mail: Some(MailNotice::Digest),
    };
    choose_inbox_notices(tx, priya, &people.inbox(SampleInbox::Support).id, &[new])?;
    set_notice_settings(tx, priya, &working_week("13:00", "07:00"))?;
    let jonas = &Cx { now, ..app.cx(people.member(SampleMember::Jonas)) };
    let at_once = NoticeChoice { browser: false, mail: MailNotice::AtOnce };
    choose_notices(tx, jonas, &[(NoticeKind::DraftWaits, at_once)])?;
    let by_mail = NoticeSettingsInput { approves_by_mail: true, ..working_week("18:30", "07:30") };
    set_notice_settings(tx, jonas, &by_mail)
}

/// Quiet from one time of a working day until another of the next.
fn working_week(from: &str, to: &str) -> NoticeSettingsInput {
    NoticeSettingsInput {
        zone: "Europe/Berlin".into(),
        shows_names: true,
        digest: "daily".into(),
        digest_time: "08:00".into(),
        quiet: true,
        quiet_from: from.into(),
        quiet_to: to.into(),
        quiet_days: QUIET_DAYS.iter().take(5).map(|day| (*day).to_owned()).collect(),
        approves_by_mail: false,
    }
}
