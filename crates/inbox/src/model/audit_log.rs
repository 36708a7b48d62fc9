//! Who changed what in the settings: written in the transaction of the change, and never changed.

use db::Tx;

use crate::app::Cx;
use crate::base::actor::Circle;
use crate::base::error::Result;
use crate::base::ids::AuditId;
use crate::base::string_enum::string_enum;

string_enum! {
    /// What somebody did.
    Action {
        KeyMade = "key-made",
        KeyRevoked = "key-revoked",
        WebhookAdded = "webhook-added",
        WebhookRotated = "webhook-rotated",
        WebhookPaused = "webhook-paused",
        WebhookResumed = "webhook-resumed",
        WebhookDeleted = "webhook-deleted",
        PersonAdded = "person-added",
        PersonRemoved = "person-removed",
        LinkMade = "link-made",
        RoleChanged = "role-changed",
        InboxAdded = "inbox-added",
        InboxRenamed = "inbox-renamed",
        TagRenamed = "tag-renamed",
        TagsMerged = "tags-merged",
        PlanChanged = "plan-changed",
        SigningKeyMade = "signing-key-made",
    }
}

/// Writes down that the actor did something to a thing, for those who may see the thing.
pub fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    action: Action,
    thing: &str,
    detail: &str,
) -> Result<()> {
    // Sandbox things are the whole team's.
    let team = Circle::team();
    let circle = if circle.is_sandbox() { &team } else { circle };
    let actor = cx.actor.member();
    tx.exec(
        "INSERT INTO audit_log (ws, circle, id, at, actor, actor_name, action, thing, detail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            &cx.actor.ws,
            circle,
            &AuditId::new(cx.ids, cx.now),
            &cx.now,
            &actor.as_ref().map_or("", |actor| actor.as_str()),
            &cx.actor.name(),
            &action,
            &thing,
            &detail,
        ],
    )?;
    Ok(())
}
