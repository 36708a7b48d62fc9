//! The people of the workspace.

use std::sync::Arc;

use actions::inboxes::setup::{self, PersonListing};
use actions::people::roles;
use actions::people::roster::{self, RosterEntry};
use actions::sign_in::provider_rules::{LocalSignInPolicy, ProviderRules};
use actions::sign_in::{provider_accounts, second_step, sessions};
use askama::Template;
use axum::extract::{Path, State};
use base::actor::Role;
use base::app::Cx;
use base::error::Error;
use base::ids::UserId;
use base::limits::PERSON_NAME_CHARS;
use db::Tx;
use translation::t;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::Avatar;
use web::mail_reach::MailReach;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_people.html", whitespace = "minimize")]
struct PeoplePage {
    frame: PageLayout,
    people: Vec<PersonView>,
    /// The roles that somebody can have, by value and word.
    roles: [(&'static str, &'static str); 3],
    email: String,
    name: String,
    role: String,
    email_error: String,
    name_error: String,
    /// A person's name and their sign-in link, shown once.
    link: Option<(String, String)>,
    mails: bool,
    /// True where everybody signs in with two steps.
    two_steps: bool,
    /// The name of the provider at which people sign in, and whether only owners sign in otherwise.
    provider: Option<String>,
    owners_only: bool,
}

struct PersonView {
    id: String,
    name: String,
    email: String,
    role: &'static str,
    role_word: &'static str,
    avatar: Avatar,
    is_you: bool,
    /// What they look after; empty when they have not said.
    duty: String,
    sign_in: SignInMark,
    /// The provider and their account there, where they have linked one.
    account: Option<String>,
}

/// How somebody signs in, for owners and admins.
struct SignInMark {
    class: &'static str,
    icon: &'static str,
    words: &'static str,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<PeoplePage, PageError> {
    let reach = web.mail_reach();
    let rules = web.oidc.as_ref().map(|client| client.rules().clone());
    let known = rules.clone();
    let (frame, (people, mails, two_steps)) = web
        .page(visitor, location(SettingsPage::People), move |tx, cx, me| {
            let mails = reach.to_team(tx, cx.actor.ws)?;
            let two_steps = second_step::wants_two_steps(tx, cx)?;
            let accounts = match &known {
                Some(rules) if me.administers() => accounts(tx, cx, rules)?,
                _ => Vec::new(),
            };
            let people = roster::list_roster(tx, cx)?.into_iter().map(|person| {
                let account = accounts.iter().find(|(id, _)| *id == person.id);
                view(person, &me.id, account.map(|(_, words)| words.clone()))
            });
            Ok((people.collect::<Vec<_>>(), mails, two_steps))
        })
        .await?;
    Ok(PeoplePage {
        people,
        roles: [Role::Owner, Role::Admin, Role::Member].map(|it| (it.as_str(), role_word(it))),
        frame,
        email: String::new(),
        name: String::new(),
        role: "member".into(),
        email_error: String::new(),
        name_error: String::new(),
        link: None,
        mails,
        two_steps,
        owners_only: web.other_ways() == LocalSignInPolicy::ForOwners,
        provider: rules.map(|rules| rules.name),
    })
}

/// Who has linked an account at the provider, and in which words the page says it.
fn accounts(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rules: &ProviderRules,
) -> base::error::Result<Vec<(UserId, String)>> {
    let linked = provider_accounts::linked_people(tx, cx, &rules.issuer)?;
    let words = |(id, email): (UserId, String)| {
        let name = &rules.name;
        (id, if email.is_empty() { name.clone() } else { format!("{name}: {email}") })
    };
    Ok(linked.into_iter().map(words).collect())
}

fn view(person: RosterEntry, you: &UserId, account: Option<String>) -> PersonView {
    PersonView {
        sign_in: sign_in_mark(&person, account.is_some()),
        account,
        duty: person.duty.unwrap_or_default(),
        is_you: person.id == *you,
        id: person.id.to_string(),
        avatar: Avatar::person(&person.name),
        name: person.name,
        email: person.email.into(),
        role: person.role.as_str(),
        role_word: role_word(person.role),
    }
}

/// The strongest way in which somebody signs in.
fn sign_in_mark(person: &RosterEntry, is_linked: bool) -> SignInMark {
    let mark = |class, icon, words| SignInMark { class, icon, words };
    if person.first_signed_in_at.is_none() {
        mark("", "wait", t!("Invited"))
    } else if person.has_passkey {
        mark("ok", "check", t!("Passkey"))
    } else if person.has_app {
        mark("ok", "check", t!("Two steps"))
    } else if is_linked {
        mark("ok", "check", t!("Linked account"))
    } else if person.has_password {
        mark("", "key", t!("Password alone"))
    } else {
        mark("warn", "warn", t!("Link alone"))
    }
}

/// The role of a person as pages write it.
pub(crate) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Owner => t!("owner"),
        Role::Admin => t!("admin"),
        Role::Member => t!("member"),
    }
}

form! {
    pub struct NewPersonForm {
        email: String,
        name: String,
        role: Role,
    }

    pub struct RoleForm {
        role: Role,
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<NewPersonForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (email, name, role) = (form.email.trim().to_owned(), form.name.clone(), form.role);
    let (reach, only) = (web.mail_reach(), web.only_provider());
    let added = web
        .act(&visitor, move |tx, cx, me| {
            if role == Role::Owner && me.role != Role::Owner {
                return Err(Error::Forbidden("Only an owner can add an owner.".into()));
            }
            let id = setup::add_person(tx, cx, &email, &name, role)?;
            let handed = hand_over(tx, cx, (&id, role), reach, only.as_deref())?;
            Ok((name.trim().to_owned(), handed))
        })
        .await;
    match added.or_problems()? {
        Ok((name, handed)) => handed_over(&web, &visitor, name, handed).await,
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            (page.email, page.name, page.role) = (form.email, form.name, role.as_str().into());
            for problem in problems.0 {
                match (problem.field.as_str(), problem.sentence) {
                    ("name", _) => {
                        page.name_error =
                            t!("Say their name, in at most {n} characters.", n = PERSON_NAME_CHARS);
                    }
                    (_, sentence) if sentence.starts_with("is on") => {
                        page.email_error = t!("Somebody with this address is on the team.").into();
                    }
                    _ => page.email_error = t!("That is not an e-mail address.").into(),
                }
            }
            responses::again(&page)
        }
    }
}

/// How a person learns how to sign in.
enum CredentialDelivery {
    Mailed,
    /// They sign in at the provider only.
    AtProvider,
    /// A link, to be passed on.
    Link(String),
}

/// Mails a sign-in link if mail reaches people; otherwise returns it. `only` is the provider where links
/// sign in owners alone.
fn hand_over(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    person: (&UserId, Role),
    reach: MailReach,
    only: Option<&str>,
) -> base::error::Result<CredentialDelivery> {
    let (id, role) = person;
    let reaches = reach.to_team(tx, cx.actor.ws)?;
    if let Some(provider) = only.filter(|_| role != Role::Owner) {
        if reaches {
            sessions::invite_to_provider(tx, cx, id, provider)?;
        }
        return Ok(CredentialDelivery::AtProvider);
    }
    if reaches {
        sessions::invite(tx, cx, id, reach.by_operator()).map(|()| CredentialDelivery::Mailed)
    } else {
        sessions::make_sign_in_link(tx, cx, id).map(CredentialDelivery::Link)
    }
}

async fn handed_over(
    web: &Web,
    visitor: &Visitor,
    name: String,
    handed: CredentialDelivery,
) -> PageResult {
    match handed {
        CredentialDelivery::Mailed => web.redirect("/settings/people", Flash::Invited),
        CredentialDelivery::AtProvider => {
            web.redirect("/settings/people", Flash::InvitedToProvider)
        }
        CredentialDelivery::Link(link) => {
            let page = build(web, visitor).await?;
            responses::page(&PeoplePage { link: Some((name, link)), ..page })
        }
    }
}

pub async fn set_role(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<RoleForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let id = UserId::parse(&id).ok_or(Error::NotFound("person"))?;
    web.act(&visitor, move |tx, cx, _| roles::set_role(tx, cx, &id, form.role)).await?;
    web.redirect("/settings/people", Flash::Role)
}

#[derive(Template)]
#[template(path = "settings_remove.html", whitespace = "minimize")]
struct RemovePage {
    frame: PageLayout,
    person: PersonView,
    error: String,
}

/// The page that explains what removing somebody does.
pub async fn ask(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let page = removal(&web, &visitor, &id, String::new()).await?;
    web.show(&visitor, &page)
}

async fn removal(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    error: String,
) -> Result<RemovePage, PageError> {
    let (frame, (people, you)): (PageLayout, (Vec<RosterEntry>, UserId)) = web
        .page(visitor, location(SettingsPage::People), |tx, cx, me| {
            cx.actor.must_administer()?;
            Ok((roster::list_roster(tx, cx)?, me.id.clone()))
        })
        .await?;
    let found = people.into_iter().find(|person| person.id.as_str() == id);
    let person = view(found.ok_or(Error::NotFound("person"))?, &you, None);
    Ok(RemovePage { frame, person, error })
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let visitor = posted.visitor;
    let person = UserId::parse(&id).ok_or(Error::NotFound("person"))?;
    let removed = web
        .act(&visitor, move |tx, cx, _| actions::people::removal::remove_person(tx, cx, &person))
        .await;
    match removed.or_problems()? {
        Ok(()) => web.redirect("/settings/people", Flash::Removed),
        Err(problems) => {
            let sentence = format!("This person {}.", problems.first_sentence());
            responses::again(&removal(&web, &visitor, &id, sentence).await?)
        }
    }
}

/// A new link for somebody who cannot sign in.
pub async fn link(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let visitor = posted.visitor;
    let id = UserId::parse(&id).ok_or(Error::NotFound("person"))?;
    let (reach, only) = (web.mail_reach(), web.only_provider());
    let made = web
        .act_quietly(&visitor, move |tx, cx, _| {
            let known = setup::list_people(tx, cx)?.into_iter().find(|person| person.id == id);
            let PersonListing { name, role, .. } = known.ok_or(Error::NotFound("person"))?;
            let handed = hand_over(tx, cx, (&id, role), reach, only.as_deref())?;
            Ok((name, handed))
        })
        .await;
    let (name, handed) = made?;
    handed_over(&web, &visitor, name, handed).await
}
