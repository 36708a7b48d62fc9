//! What a call of an issue tracker tells of an item. Each tracker has a form of its own; calls about anything else
//! tell nothing.

use axum::http::HeaderMap;
use model::linked_items::item_reports::ItemReport;
use model::linked_items::{ItemState, Tracker, item_key};
use serde_json::Value;

use crate::mail_in::services::signatures::header;

/// The item that a call is about, and how it stands.
pub fn item_report(tracker: Tracker, headers: &HeaderMap, call: &Value) -> Option<ItemReport> {
    match tracker {
        Tracker::GitHub => of_github(header(headers, "x-github-event")?, call),
        Tracker::GitLab => of_gitlab(call),
        Tracker::Jira => of_jira(call),
        Tracker::Linear => of_linear(call),
    }
}

fn of_github(event: &str, call: &Value) -> Option<ItemReport> {
    let item = match event {
        "issues" => &call["issue"],
        "pull_request" => &call["pull_request"],
        _ => return None,
    };
    let page = call["repository"]["html_url"].as_str()?;
    let name = format!("#{}", item["number"].as_u64()?);
    Some(ItemReport {
        tracker: Tracker::GitHub,
        item: item_key(page, &name)?,
        title: text(&item["title"]),
        state: state_of(item["state"] == "closed"),
        is_change: call["action"] == "closed",
    })
}

fn of_gitlab(call: &Value) -> Option<ItemReport> {
    let item = &call["object_attributes"];
    let sign = match call["object_kind"].as_str()? {
        "issue" | "work_item" => '#',
        "merge_request" => '!',
        _ => return None,
    };
    let page = call["project"]["web_url"].as_str()?;
    let name = format!("{sign}{}", item["iid"].as_u64()?);
    Some(ItemReport {
        tracker: Tracker::GitLab,
        item: item_key(page, &name)?,
        title: text(&item["title"]),
        state: state_of(matches!(item["state"].as_str()?, "closed" | "merged")),
        is_change: matches!(item["action"].as_str(), Some("close" | "merge")),
    })
}

/// `self` is the address in Jira's API, below the address of Jira itself.
fn of_jira(call: &Value) -> Option<ItemReport> {
    let is_there = call["webhookEvent"] != "jira:issue_deleted";
    let (issue, fields) = (&call["issue"], &call["issue"]["fields"]);
    let (page, _) = issue["self"].as_str()?.split_once("/rest/")?;
    let name = format!("/{}", issue["key"].as_str()?);
    let category = fields["status"]["statusCategory"]["key"].as_str()?;
    let changes = call["changelog"]["items"].as_array();
    let report = ItemReport {
        tracker: Tracker::Jira,
        item: item_key(page, &name)?,
        title: text(&fields["summary"]),
        state: state_of(category == "done"),
        is_change: changes.is_some_and(|all| all.iter().any(|one| one["field"] == "status")),
    };
    is_there.then_some(report)
}

fn of_linear(call: &Value) -> Option<ItemReport> {
    let issue = &call["data"];
    if call["type"] != "Issue" || call["action"] == "remove" {
        return None;
    }
    let name = match issue["identifier"].as_str() {
        Some(identifier) => format!("/{identifier}"),
        None => format!("/{}-{}", issue["team"]["key"].as_str()?, issue["number"].as_u64()?),
    };
    let kind = issue["state"]["type"].as_str()?;
    Some(ItemReport {
        tracker: Tracker::Linear,
        item: item_key("https://linear.app", &name)?,
        title: text(&issue["title"]),
        state: state_of(matches!(kind, "completed" | "canceled")),
        is_change: call["updatedFrom"].get("stateId").is_some(),
    })
}

fn state_of(is_closed: bool) -> ItemState {
    if is_closed { ItemState::Closed } else { ItemState::Open }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
