//! What a person is told of and how, and the browsers that tell them.

use base::app::Cx;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::{MailboxId, SessionId, SubscriptionId};
use base::security::web_push::PushTarget;
use calendar::zone_named;
use db::Tx;
use model::mailboxes::{self, Mailbox};
use model::people::notifications::choices::{self, NoticeChoice, NoticeKind, OwnNoticeChoice};
use model::people::notifications::dispatch;
use model::people::notifications::push::{self, SubscribedBrowser};
use model::people::notifications::settings::{DigestPace, NoticeSettings, WEEK};

use crate::sign_in::sessions::own_id;

/// Days of the week as a form names them.
pub const QUIET_DAYS: [&str; WEEK] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Everything about a person's notices.
pub struct OwnNotifications {
    /// `None` where the person chose nothing.
    pub settings: Option<NoticeSettings>,
    /// For each kind, in every inbox.
    pub choices: Vec<(NoticeKind, NoticeChoice)>,
    /// The inboxes that the person sees, and whether something else holds there.
    pub inboxes: Vec<(Mailbox, bool)>,
    pub browsers: Vec<SubscribedBrowser>,
}

pub fn own_notifications(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<OwnNotifications> {
    let (ws, me) = (cx.actor.ws, own_id(cx)?);
    let own_inboxes = choices::own_inboxes(tx, ws, me)?;
    let inboxes = mailboxes::all_seen_by(tx, cx.actor)?.into_iter().map(|inbox| {
        let is_own = own_inboxes.contains(&inbox.id);
        (inbox, is_own)
    });
    Ok(OwnNotifications {
        settings: NoticeSettings::load_own(tx, ws, me)?,
        choices: everywhere(tx, cx)?,
        inboxes: inboxes.collect(),
        browsers: push::browsers(tx, cx, me)?,
    })
}

/// What somebody is told of in one inbox.
pub struct InboxNotices {
    pub mailbox: Mailbox,
    /// For each kind: what holds in every inbox, and what the person chose for this one.
    pub choices: Vec<(NoticeKind, NoticeChoice, OwnNoticeChoice)>,
}

pub fn inbox_notices(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &MailboxId) -> Result<InboxNotices> {
    let mailbox = mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?;
    let own = choices::own(tx, cx.actor.ws, own_id(cx)?, Some(&mailbox.id))?;
    let of_kind = |kind: NoticeKind| {
        let found = own.iter().find(|own| own.kind == kind).copied();
        found.unwrap_or(OwnNoticeChoice { kind, browser: None, mail: None })
    };
    let everywhere = everywhere(tx, cx)?.into_iter();
    let choices = everywhere.map(|(kind, usual)| (kind, usual, of_kind(kind))).collect();
    Ok(InboxNotices { mailbox, choices })
}

fn everywhere(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<(NoticeKind, NoticeChoice)>> {
    let own = choices::own(tx, cx.actor.ws, own_id(cx)?, None)?;
    let of_kind = |kind: NoticeKind| {
        let chosen: Vec<OwnNoticeChoice> =
            own.iter().filter(|own| own.kind == kind).copied().collect();
        (kind, choices::resolve(kind, &chosen))
    };
    Ok(NoticeKind::ALL.iter().copied().map(of_kind).collect())
}

/// Keeps what the actor wants to be told of in every inbox.
pub fn choose_notices(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    chosen: &[(NoticeKind, NoticeChoice)],
) -> Result<()> {
    for (kind, choice) in chosen {
        // A choice that equals the default is not stored, so that it follows later changes of the default.
        let is_usual = *choice == kind.usual();
        let own = OwnNoticeChoice {
            kind: *kind,
            browser: (!is_usual).then_some(choice.browser),
            mail: (!is_usual).then_some(choice.mail),
        };
        choices::keep(tx, cx.actor.ws, own_id(cx)?, None, &own)?;
    }
    Ok(())
}

/// Keeps what the actor wants to be told of in one inbox.
pub fn choose_inbox_notices(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &MailboxId,
    chosen: &[OwnNoticeChoice],
) -> Result<()> {
    let mailbox = mailboxes::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("inbox"))?;
    for own in chosen {
        choices::keep(tx, cx.actor.ws, own_id(cx)?, Some(&mailbox.id), own)?;
    }
    Ok(())
}

/// How the actor is told, as a person types it.
#[derive(Clone, Debug, Default)]
pub struct NoticeSettingsInput {
    pub zone: String,
    pub shows_names: bool,
    /// `hourly` or `daily`.
    pub digest: String,
    /// Times as `08:00`.
    pub digest_time: String,
    pub quiet: bool,
    pub quiet_from: String,
    pub quiet_to: String,
    /// Some of [`QUIET_DAYS`].
    pub quiet_days: Vec<String>,
    pub approves_by_mail: bool,
}

impl NoticeSettingsInput {
    pub fn of(settings: &NoticeSettings) -> NoticeSettingsInput {
        let is_quiet = |place: usize| settings.quiet_days.as_bytes().get(place) == Some(&b'1');
        let days = QUIET_DAYS.iter().enumerate().filter(|(place, _)| is_quiet(*place));
        NoticeSettingsInput {
            zone: settings.zone.clone(),
            shows_names: settings.shows_names,
            digest: settings.digest.as_str().to_owned(),
            digest_time: clock(settings.digest_minute),
            quiet: settings.quiet_from.is_some(),
            quiet_from: clock(settings.quiet_from.unwrap_or(20 * 60)),
            quiet_to: clock(settings.quiet_to.unwrap_or(7 * 60)),
            quiet_days: days.map(|(_, day)| (*day).to_owned()).collect(),
            approves_by_mail: settings.approves_by_mail,
        }
    }

    fn check(&self) -> Result<NoticeSettings> {
        let mut problems = ValidationErrors::default();
        let mut wrong = |field: &str, sentence: &str| {
            problems.0.push(ValidationError { field: field.into(), sentence: sentence.into() });
        };
        if zone_named(&self.zone).is_none() {
            wrong("zone", "This is no time zone.");
        }
        let digest = DigestPace::parse(&self.digest);
        let digest_minute = minutes(&self.digest_time);
        if digest.is_none() || digest_minute.is_none() {
            wrong("digest", "A digest comes hourly, or daily at a time such as 08:00.");
        }
        let (from, to) = (minutes(&self.quiet_from), minutes(&self.quiet_to));
        if self.quiet && (from.is_none() || to.is_none()) {
            wrong("quiet", "Quiet hours begin and end at times such as 20:00.");
        }
        if self.quiet && self.quiet_days.is_empty() {
            wrong("quiet", "Choose the days on which quiet hours begin.");
        }
        if !problems.0.is_empty() {
            return Err(Error::Invalid(problems));
        }
        let day = |day: &&str| match self.quiet_days.iter().any(|chosen| chosen == day) {
            true => '1',
            false => '0',
        };
        Ok(NoticeSettings {
            zone: self.zone.clone(),
            shows_names: self.shows_names,
            digest: digest.unwrap_or(DigestPace::Daily),
            digest_minute: digest_minute.unwrap_or_default(),
            quiet_from: from.filter(|_| self.quiet),
            quiet_to: to.filter(|_| self.quiet),
            quiet_days: QUIET_DAYS.iter().map(day).collect(),
            approves_by_mail: self.approves_by_mail,
        })
    }
}

/// Keeps how the actor is told.
pub fn set_notice_settings(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &NoticeSettingsInput,
) -> Result<()> {
    input.check()?.keep(tx, cx.actor.ws, own_id(cx)?)
}

/// `08:00` as minutes after midnight.
fn minutes(text: &str) -> Option<i64> {
    let (hour, minute) = text.trim().split_once(':')?;
    let is_number = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(hour) || !is_number(minute) {
        return None;
    }
    let (hour, minute): (i64, i64) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

fn clock(minute: i64) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// The key that a browser subscribes with.
pub fn push_public_key(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<String> {
    own_id(cx)?;
    Ok(push::vapid_key(tx, cx)?.public_key())
}

/// Subscribes the browser of the actor's session. Its address was checked by the SSRF guard.
pub fn subscribe_browser(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    session: &SessionId,
    device: &str,
    target: &PushTarget,
) -> Result<SubscriptionId> {
    push::subscribe(tx, cx, own_id(cx)?, session, device, target)
}

/// Ends the subscription of one of the actor's browsers.
pub fn end_subscription(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &SubscriptionId) -> Result<()> {
    match push::end(tx, cx.actor.ws, own_id(cx)?, id)? {
        true => Ok(()),
        false => Err(Error::NotFound("browser")),
    }
}

/// Sends the actor a test notice; false where they got too many within a minute.
pub fn send_test_notice(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<bool> {
    dispatch::tell_test(tx, cx, own_id(cx)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_one_way() {
        assert_eq!(
            [minutes("08:05"), minutes("00:00"), minutes("23:59")],
            [Some(485), Some(0), Some(1_439)]
        );
        for bad in ["", "8:05", "24:00", "08:60", "08-05", "+8:05", "08:5", "aa:bb"] {
            assert_eq!(minutes(bad), None, "{bad}");
        }
        assert_eq!(clock(485), "08:05");
    }
}
