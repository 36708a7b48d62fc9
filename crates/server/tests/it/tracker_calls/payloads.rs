//! Calls in the shapes that the trackers document, with the members that Mailroom does not read as well.

use serde_json::{Value, json};

/// The event of the header, and the body.
pub type Payload = (&'static str, Value);

fn github_repository() -> Value {
    json!({
        "id": 186853002, "name": "Hello-World", "full_name": "Codertocat/Hello-World",
        "private": false, "owner": { "login": "Codertocat", "id": 21031067, "type": "User" },
        "html_url": "https://github.com/Codertocat/Hello-World",
        "url": "https://api.github.com/repos/Codertocat/Hello-World", "open_issues_count": 2
    })
}

pub fn github_issue(action: &str, state: &str) -> Payload {
    let issue = json!({
        "url": "https://api.github.com/repos/Codertocat/Hello-World/issues/1",
        "repository_url": "https://api.github.com/repos/Codertocat/Hello-World",
        "html_url": "https://github.com/Codertocat/Hello-World/issues/1",
        "id": 444500041, "number": 1, "title": "Lamps flicker", "state": state, "locked": false,
        "user": { "login": "Codertocat", "id": 21031067, "type": "User", "site_admin": false },
        "labels": [{ "id": 1362934389, "name": "bug", "color": "d73a4a", "default": true }],
        "assignee": null, "milestone": null, "comments": 0, "body": "They do so at night.",
        "created_at": "2026-11-15T15:20:18Z", "updated_at": "2026-11-15T15:20:18Z"
    });
    let sender = json!({ "login": "Codertocat", "id": 21031067, "type": "User" });
    let repository = github_repository();
    let body =
        json!({ "action": action, "issue": issue, "repository": repository, "sender": sender });
    ("issues", body)
}

pub fn github_pull(action: &str, state: &str) -> Payload {
    let pull = json!({
        "url": "https://api.github.com/repos/Codertocat/Hello-World/pulls/2",
        "html_url": "https://github.com/Codertocat/Hello-World/pull/2",
        "id": 279147437, "number": 2, "state": state, "title": "Lamps flicker", "draft": false,
        "head": { "label": "Codertocat:changes", "ref": "changes" },
        "base": { "label": "Codertocat:master", "ref": "master" },
        "merged": state == "closed", "commits": 1, "additions": 1, "deletions": 1
    });
    let repository = github_repository();
    let body = json!({
        "action": action, "number": 2, "pull_request": pull, "repository": repository
    });
    ("pull_request", body)
}

fn gitlab_project() -> Value {
    json!({
        "id": 1, "name": "Gitlab Test", "description": "Aut reprehenderit ut est.",
        "web_url": "http://example.com/gitlabhq/gitlab-test", "namespace": "GitlabHQ",
        "git_ssh_url": "git@example.com:gitlabhq/gitlab-test.git", "visibility_level": 20,
        "path_with_namespace": "gitlabhq/gitlab-test", "default_branch": "master"
    })
}

pub fn gitlab_issue(action: &str, state: &str) -> Payload {
    let body = json!({
        "object_kind": "issue", "event_type": "issue",
        "user": { "id": 1, "name": "Administrator", "username": "root" },
        "project": gitlab_project(),
        "object_attributes": {
            "id": 301, "title": "Lamps flicker", "assignee_ids": [51], "author_id": 51,
            "project_id": 14, "created_at": "2026-11-03T17:15:43Z", "position": 0,
            "description": "They do so at night.", "milestone_id": null, "state": state,
            "iid": 23, "url": "http://example.com/diaspora/issues/23", "action": action
        },
        "labels": [{ "id": 206, "title": "API", "color": "#ffffff" }], "changes": {}
    });
    ("Issue Hook", body)
}

pub fn gitlab_merge_request(action: &str, state: &str) -> Payload {
    let body = json!({
        "object_kind": "merge_request", "event_type": "merge_request",
        "user": { "id": 1, "name": "Administrator", "username": "root" },
        "project": gitlab_project(),
        "object_attributes": {
            "id": 99, "iid": 1, "target_branch": "master", "source_branch": "ms-viewport",
            "title": "Lamps flicker", "state": state, "merge_status": "unchecked",
            "draft": false, "action": action,
            "url": "http://example.com/diaspora/merge_requests/1"
        },
        "labels": [], "changes": {}
    });
    ("Merge Request Hook", body)
}

pub fn jira_issue(category: &str) -> Payload {
    let body = json!({
        "timestamp": 1794733200000_i64, "webhookEvent": "jira:issue_updated",
        "issue_event_type_name": "issue_generic",
        "user": { "accountId": "99:27935d01", "displayName": "Ann Admin", "active": true },
        "issue": {
            "id": "10002", "key": "PROJ-4",
            "self": "https://your-domain.atlassian.net/rest/api/2/10002",
            "fields": {
                "summary": "Lamps flicker", "description": "They do so at night.", "labels": ["UI"],
                "priority": { "name": "Medium", "id": "3" },
                "status": {
                    "name": "Anything", "id": "10001",
                    "statusCategory": { "id": 3, "key": category, "colorName": "green" }
                }
            }
        },
        "changelog": {
            "id": 10124,
            "items": [{
                "field": "status", "fieldtype": "jira", "fieldId": "status", "from": "10000",
                "fromString": "To Do", "to": "10001", "toString": "Anything"
            }]
        }
    });
    ("jira:issue_updated", body)
}

pub fn linear_issue(state: &str, sent_at: i64) -> Payload {
    let body = json!({
        "action": "update", "type": "Issue", "createdAt": "2026-11-15T12:53:18.084Z",
        "actor": { "id": "b5ea5f1f-8adc-4f52-b4bd-ab4e84cf51ba", "type": "user", "name": "Ann" },
        "data": {
            "id": "2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9", "number": 7, "identifier": "ENG-7",
            "title": "Lamps flicker", "priority": 0, "boardOrder": 0, "sortOrder": -84.71,
            "labelIds": ["79e44d9f-5c1c-4f0e-ab9e-7d3c7d9e0f6d"],
            "teamId": "72b2a2dc-6f4f-4423-9d34-24b5bd10634a",
            "team": { "id": "72b2a2dc-6f4f-4423-9d34-24b5bd10634a", "key": "ENG", "name": "Eng" },
            "stateId": "38eb7b7f-1f3f-4b3d-9d5e-2d1b5d0f7a11",
            "state": {
                "id": "38eb7b7f-1f3f-4b3d-9d5e-2d1b5d0f7a11", "color": "#5e6ad2",
                "name": "Anything", "type": state
            }
        },
        "updatedFrom": { "updatedAt": "2026-11-15T12:50:00.000Z", "stateId": "0b1c2d3e" },
        "url": "https://linear.app/acme/issue/ENG-7/lamps-flicker",
        "organizationId": "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
        "webhookTimestamp": sent_at, "webhookId": "000042e3-d123-4980-b49f-8e140eef9329"
    });
    ("Issue", body)
}
