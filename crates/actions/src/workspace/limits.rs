//! The limits of a workspace, set by whoever runs the service and read by its owners.

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use db::Tx;
use model::installation::audit_log::{self, Action};
use quotas::{LimitInput, LimitKind, LimitUse};

use crate::workspace::suspension::must_operate;

/// Sets some limits; the others stay.
pub fn set_limits(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    limits: &[(LimitKind, LimitInput)],
) -> Result<Vec<LimitUse>> {
    must_operate(cx)?;
    for (what, input) in limits {
        quotas::set(tx, cx.actor.ws, *what, *input)?;
    }
    if !limits.is_empty() {
        let named: Vec<String> = limits.iter().map(|(what, input)| words(*what, *input)).collect();
        let detail = named.join(", ");
        let action = Action::WorkspaceLimitsChanged;
        audit_log::record(tx, cx, &Circle::team(), action, "", &detail)?;
    }
    quotas::all_uses(tx, cx.actor.ws, cx.now)
}

/// Every limit with what is used of it, for owners and admins.
pub fn limits_in_use(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<LimitUse>> {
    cx.actor.must_administer()?;
    quotas::all_uses(tx, cx.actor.ws, cx.now)
}

/// Those of them that are near, for the line above the pages of owners and admins.
pub fn limits_near(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<LimitUse>> {
    quotas::near_limits(tx, cx.actor.ws, cx.now)
}

fn words(what: LimitKind, input: LimitInput) -> String {
    let amount = |amount: Option<i64>| amount.map_or("none".into(), |amount| amount.to_string());
    format!("{} {} (warns at {})", what.as_str(), amount(input.hard), amount(input.soft))
}
