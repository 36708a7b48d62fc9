//! What one agent may do beside its scopes, and its brake.

use std::sync::Arc;

use actions::integrations::agent_policy::{self, LimitedAgent};
use askama::Template;
use axum::extract::{Path, State};
use base::error::{Error, ValidationErrors};
use base::ids::AgentId;
use base::security::agent_policy::{
    AgentPolicy, FirstContactRule, HoursRule, LinkRule, MarkedMailRule, PauseReason, PolicyProfile,
    PolicyRule, RecipientRule, SecretRule,
};
use translation::{sentence, t};
use web::Web;
use web::forms::form::{Form, FormFields, PostedForm};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, PageError, PageResult};
use web::layout::wording::{Avatar, DisplayTime};
use web::visitor::Visitor;

use crate::integrations::keys::scope_words;
use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_agent.html", whitespace = "minimize")]
struct AgentPage {
    frame: PageLayout,
    id: String,
    name: String,
    avatar: Avatar,
    scopes: String,
    live: bool,
    back: &'static str,
    paused: Option<PauseView>,
    leaving: i64,
    sent_of_late: i64,
    profile: String,
    fields: Vec<PolicyField>,
}

struct PauseView {
    at: DisplayTime,
    by: String,
    why: String,
}

/// A field of the policy, as the page shows it.
struct PolicyField {
    name: &'static str,
    title: String,
    hint: String,
    /// The words to choose from; none for a field that is typed.
    options: Vec<(&'static str, String)>,
    value: String,
    error: String,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, &id).await?)
}

async fn build(web: &Web, visitor: &Visitor, id: &str) -> Result<AgentPage, PageError> {
    let id = AgentId::parse(id).ok_or(Error::NotFound("agent"))?;
    let (frame, agent) = web
        .page(visitor, location(SettingsPage::Keys), move |tx, cx, _| {
            agent_policy::show_agent(tx, cx, &id)
        })
        .await?;
    Ok(AgentPage {
        paused: pause_view(&agent, &frame),
        id: agent.id.to_string(),
        avatar: Avatar::agent(&agent.name),
        name: agent.name,
        scopes: scope_words(agent.scopes.split(' ')),
        live: agent.livemode,
        back: if agent.is_app { "/settings/apps" } else { "/settings/keys" },
        leaving: agent.leaving,
        sent_of_late: agent.sent_of_late,
        profile: profile_words(&agent.policy),
        fields: PolicyRule::ALL.iter().map(|rule| field(*rule, &agent.policy)).collect(),
        frame,
    })
}

fn pause_view(agent: &LimitedAgent, frame: &PageLayout) -> Option<PauseView> {
    let why = match agent.pause_reason {
        Some(PauseReason::Bulk) => {
            t!("It changed more conversations at once than its limits allow.").to_owned()
        }
        Some(PauseReason::Itself) => t!("It paused itself.").to_owned(),
        Some(PauseReason::Person) | None => String::new(),
    };
    Some(PauseView {
        at: frame.times.short(agent.paused_at?),
        by: agent.paused_by.clone().unwrap_or_default(),
        why,
    })
}

fn profile_words(policy: &AgentPolicy) -> String {
    match policy.profile() {
        Some(PolicyProfile::Agent) => t!("These are the limits that a new agent begins with."),
        Some(PolicyProfile::Program) => {
            t!("It has no limits but its scopes, like a program of your own.")
        }
        None => t!("The limits were changed for this agent."),
    }
    .to_owned()
}

fn field(rule: PolicyRule, policy: &AgentPolicy) -> PolicyField {
    let (title, hint) = words(rule);
    PolicyField {
        name: rule.as_str(),
        title: title.to_owned(),
        hint: hint.to_owned(),
        options: options(rule),
        value: policy.to_typed(rule),
        error: String::new(),
    }
}

/// What a field is called, and what it means.
fn words(rule: PolicyRule) -> (&'static str, &'static str) {
    match rule {
        PolicyRule::Recipients => {
            (t!("Whom it may write to"), t!("A message to anybody else waits as a draft."))
        }
        PolicyRule::Domains => {
            (t!("Listed domains"), t!("With commas between, such as customer.example."))
        }
        PolicyRule::FirstContact => (
            t!("First message to somebody"),
            t!("Nobody on the team has written to this person yet."),
        ),
        PolicyRule::MessagesPerHour => (
            t!("Messages an hour"),
            t!("Over all conversations; what comes on top waits as a draft. none is no limit."),
        ),
        PolicyRule::DraftsPerHour => (
            t!("Drafts an hour"),
            t!("What comes on top is refused, so that drafts do not bury the queue."),
        ),
        PolicyRule::BookingsPerHour => {
            (t!("Bookings an hour"), t!("Made, moved and cancelled ones together."))
        }
        PolicyRule::BulkPerMinutes => (
            t!("Many conversations at once"),
            t!(
                "So many conversations changed in so many minutes pause it and tell people, such as 50/5."
            ),
        ),
        PolicyRule::Links => (t!("Links"), t!("A message with another link waits as a draft.")),
        PolicyRule::Files => (t!("Files"), t!("Whether files may go out with its messages.")),
        PolicyRule::AmountAbove => (
            t!("Amounts of money"),
            t!("A message that names more waits as a draft, such as 50 EUR."),
        ),
        PolicyRule::Hours => (t!("Hours"), t!("Outside office hours it may read, tag and draft.")),
        PolicyRule::MarkedMail => (
            t!("Marked mail"),
            t!("Mail that a check marked as a risk, or as words meant for an agent."),
        ),
        PolicyRule::PerCustomerPerDay => {
            (t!("Messages to one customer in 24 hours"), t!("What comes on top waits as a draft."))
        }
        PolicyRule::UndoMinutes => (
            t!("Minutes in which it can be stopped"),
            t!("Its messages and bookings wait so long before they leave."),
        ),
        PolicyRule::Secrets => (
            t!("Keys, card and account numbers"),
            t!("API keys by their shape, card numbers and IBANs by their check digits."),
        ),
    }
}

fn options(rule: PolicyRule) -> Vec<(&'static str, String)> {
    let words: Vec<(&'static str, &'static str)> = match rule {
        PolicyRule::Recipients => vec![
            (RecipientRule::Conversation.as_str(), t!("People of the conversation")),
            (RecipientRule::Contacts.as_str(), t!("And people whom the team has written to")),
            (RecipientRule::Domains.as_str(), t!("And people of the listed domains")),
            (RecipientRule::Anyone.as_str(), t!("Anybody")),
        ],
        PolicyRule::FirstContact => vec![
            (FirstContactRule::Approve.as_str(), t!("A person approves it")),
            (FirstContactRule::Allow.as_str(), t!("It may be sent")),
        ],
        PolicyRule::Links => vec![
            (LinkRule::Own.as_str(), t!("To our own domains")),
            (LinkRule::Conversation.as_str(), t!("And to those in the conversation")),
            (LinkRule::Anyone.as_str(), t!("To any domain")),
        ],
        PolicyRule::Files => vec![("true", t!("Files may go out")), ("false", t!("No files"))],
        PolicyRule::Hours => vec![
            (HoursRule::Office.as_str(), t!("In office hours")),
            (HoursRule::Always.as_str(), t!("At any time")),
        ],
        PolicyRule::MarkedMail => vec![
            (MarkedMailRule::HandOver.as_str(), t!("Notes and handing over, nothing else")),
            (MarkedMailRule::Draft.as_str(), t!("Messages wait as drafts")),
            (MarkedMailRule::Allow.as_str(), t!("Like any other mail")),
        ],
        PolicyRule::Secrets => vec![
            (SecretRule::Protected.as_str(), t!("Only on a protected page")),
            (SecretRule::Draft.as_str(), t!("Messages wait as drafts")),
            (SecretRule::Allow.as_str(), t!("Like any other words")),
        ],
        PolicyRule::Domains
        | PolicyRule::MessagesPerHour
        | PolicyRule::DraftsPerHour
        | PolicyRule::BookingsPerHour
        | PolicyRule::BulkPerMinutes
        | PolicyRule::AmountAbove
        | PolicyRule::PerCustomerPerDay
        | PolicyRule::UndoMinutes => Vec::new(),
    };
    words.into_iter().map(|(value, label)| (value, label.to_owned())).collect()
}

/// Every field of the policy, as it was typed or chosen.
pub struct PolicyForm(Vec<(String, String)>);

impl Form for PolicyForm {
    fn read(fields: &FormFields) -> base::error::Result<PolicyForm> {
        let given = PolicyRule::NAMES.iter().filter(|name| fields.has(name));
        Ok(PolicyForm(given.map(|name| ((*name).to_owned(), fields.get(name))).collect()))
    }
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<PolicyForm>,
) -> PageResult {
    let PostedForm { visitor, form: PolicyForm(typed) } = posted;
    let agent = AgentId::parse(&id).ok_or(Error::NotFound("agent"))?;
    let wanted = typed.clone();
    let changed = web
        .act(&visitor, move |tx, cx, _| agent_policy::change_policy(tx, cx, &agent, &wanted))
        .await;
    match changed {
        Ok(_) => web.redirect(&format!("/settings/agents/{id}"), Flash::Saved),
        Err(PageError::Domain(Error::Invalid(problems))) => {
            let mut page = build(&web, &visitor, &id).await?;
            page.keep_typed(&typed, &problems);
            responses::again(&page)
        }
        Err(refusal) => Err(refusal),
    }
}

impl AgentPage {
    fn keep_typed(&mut self, typed: &[(String, String)], problems: &ValidationErrors) {
        for field in &mut self.fields {
            if let Some((_, value)) = typed.iter().find(|(name, _)| name == field.name) {
                field.value = value.clone();
            }
            let problem = problems.0.iter().find(|problem| problem.field == field.name);
            field.error = problem
                .map_or_else(String::new, |problem| sentence(&problem.sentence).into_owned());
        }
    }
}

pub async fn pause(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let agent = AgentId::parse(&id).ok_or(Error::NotFound("agent"))?;
    web.act(&posted.visitor, move |tx, cx, _| agent_policy::pause_agent(tx, cx, &agent)).await?;
    web.redirect(&format!("/settings/agents/{id}"), Flash::AgentPaused)
}

pub async fn resume(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let agent = AgentId::parse(&id).ok_or(Error::NotFound("agent"))?;
    web.act(&posted.visitor, move |tx, cx, _| agent_policy::resume_agent(tx, cx, &agent)).await?;
    web.redirect(&format!("/settings/agents/{id}"), Flash::AgentResumed)
}
