//! The first steps of a new workspace: a list of what is done and what is left, and the step that is
//! next.

use std::sync::Arc;

use actions::inboxes::first_steps::{self, FirstSteps, StepOutcome};
use actions::inboxes::setup;
use askama::Template;
use axum::extract::State;
use model::mailboxes::mailbox_grants::SignInProvider;
use model::people::notices;
use translation::{sentence, t};
use web::Web;
use web::forms::form::PostedForm;
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::{PageLayout, PageLocation};
use web::layout::responses::PageResult;
use web::layout::wording::DisplayTime;
use web::page_version::PartVersion;
use web::visitor::Visitor;

use crate::inboxes::connect_fields::{ConnectFields, TriedView};
use crate::inboxes::incoming_mail::{self, ListenerView};

#[derive(Template)]
#[template(path = "welcome.html", whitespace = "minimize")]
struct WelcomePage {
    frame: PageLayout,
    first_name: String,
    steps: Vec<StepView>,
    /// The reader's address, where it is an inbox, to which no link is mailed.
    own_inbox: Option<String>,
    done: usize,
    /// The first inbox: its id and address.
    inbox: Option<(String, String)>,
    /// Mail of an inbox is fetched.
    fetches: bool,
    fetch_error: Option<String>,
    /// How this server receives mail.
    listeners: Vec<ListenerView>,
    arrived: Option<ArrivedView>,
    /// What the form that connects a mailbox shows.
    fields: ConnectFields,
    providers: Vec<SignInProvider>,
    tried: Option<TriedView>,
    people: Vec<(String, String)>,
    known: bool,
}

/// One line of the list.
struct StepView {
    title: &'static str,
    text: String,
    href: String,
    link: &'static str,
    done: bool,
    /// The first that is not done.
    now: bool,
}

struct ArrivedView {
    id: String,
    subject: String,
    from: String,
    at: DisplayTime,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let (reach, location) = (web.mail_reach(), PageLocation::at(t!("First steps"), "/welcome"));
    let (mut frame, (steps, sends, people, own_inbox)) = web
        .page(&visitor, location, move |tx, cx, me| {
            let is_inbox = notices::is_inbox(tx, &me.email)?;
            let own_inbox = is_inbox.then(|| me.email.to_string());
            let steps = first_steps::first_steps(tx, cx)?;
            let sends = match &steps.inbox {
                Some((id, _)) => reach.leaves_inbox(tx, cx.actor.ws, id)?,
                None => false,
            };
            Ok((steps, sends, setup::list_people(tx, cx)?, own_inbox))
        })
        .await?;
    let shown = PartVersion::of(&steps);
    frame.watch_live("page=welcome".into(), shown, PartVersion::default());
    let people = people.into_iter().map(|person| (person.id.to_string(), person.name)).collect();
    let page = view(&web, frame, steps, sends, people);
    if page.done == page.steps.len() && page.frame.first_steps {
        // The entry in the navigation goes by itself; the page stays.
        web.act_quietly(&visitor, |tx, cx, _| first_steps::end_first_steps(tx, cx)).await?;
    }
    web.show(&visitor, &WelcomePage { own_inbox, ..page })
}

fn view(
    web: &Web,
    frame: PageLayout,
    steps: FirstSteps,
    sends: bool,
    people: Vec<(String, String)>,
) -> WelcomePage {
    let mut list = step_views(&frame, &steps, sends);
    if let Some(next) = list.iter_mut().find(|step| !step.done) {
        next.now = true;
    }
    let address = steps.inbox.as_ref().map(|(_, address)| address.clone());
    let fields = ConnectFields {
        address: address.unwrap_or_default(),
        welcome: true,
        ..ConnectFields::default()
    };
    WelcomePage {
        first_name: frame.name.split(' ').next().unwrap_or_default().to_owned(),
        done: list.iter().filter(|step| step.done).count(),
        steps: list,
        own_inbox: None,
        known: steps.inbox.is_some(),
        inbox: steps.inbox.map(|(id, address)| (id.to_string(), address)),
        fetches: steps.fetches,
        fetch_error: steps.fetch_error.map(|error| sentence(&error).into_owned()),
        listeners: incoming_mail::listeners(&web.mail_setup),
        arrived: steps.arrived.map(|mail| ArrivedView {
            id: mail.id.to_string(),
            subject: mail.subject,
            from: mail.contact_email.unwrap_or_default(),
            at: frame.times.long(mail.at),
        }),
        fields,
        providers: web.oauth_clients.providers(),
        tried: None,
        people,
        frame,
    }
}

fn step_views(frame: &PageLayout, steps: &FirstSteps, sends: bool) -> Vec<StepView> {
    let made = frame.times.long(steps.created_at);
    let receives = steps.fetches || steps.arrived.is_some();
    let of_inbox = |rest: &str| match &steps.inbox {
        Some((id, _)) => format!("/settings/inboxes/{id}{rest}"),
        None => "/settings/inboxes".to_owned(),
    };
    let step = |title, text: String, href: String, link, done| StepView {
        title,
        text,
        href,
        link,
        done,
        now: false,
    };
    let (outgoing, try_it) = if sends {
        (of_inbox("/outgoing"), t!("Send a test mail"))
    } else {
        ("/settings/outgoing".to_owned(), t!("Set it up"))
    };
    vec![
        step(
            t!("Your workspace"),
            t!("{workspace}, made {time}.", workspace = frame.workspace, time = made.text),
            String::new(),
            "",
            true,
        ),
        step(
            t!("Connect a mailbox"),
            t!("Mailroom reads and sends from the address that your customers know.").into(),
            "#connect-h".into(),
            t!("Connect it"),
            receives,
        ),
        step(
            t!("See a message arrive"),
            t!("Write to the inbox from any other address, and watch it come in.").into(),
            "#watch-h".into(),
            t!("Watch"),
            steps.arrived.is_some(),
        ),
        step(
            t!("Let mail leave"),
            outgoing_words(steps, sends),
            outgoing,
            try_it,
            steps.has_sent(),
        ),
        step(
            t!("Publish the DNS records"),
            records_words(frame, steps.records.as_ref()),
            of_inbox("#records"),
            t!("Look them up"),
            steps.has_records(),
        ),
        step(
            t!("Invite your team"),
            match steps.people {
                1 => t!("You are alone here so far.").into(),
                people => t!("{people} people are here.", people),
            },
            "/settings/people".into(),
            t!("Invite somebody"),
            steps.people > 1,
        ),
        step(
            t!("Answer somebody"),
            t!("A reply can be stopped for a moment after Send. Then it leaves.").into(),
            "/inbox?view=open".into(),
            t!("To the inbox"),
            steps.has_answered,
        ),
        step(
            t!("Let an agent work with you"),
            if steps.has_key {
                t!("There is a key; nothing has called with it yet.").into()
            } else {
                t!("An agent reads, drafts and asks through the API, and you approve.").into()
            },
            if steps.has_key { "/developers".into() } else { "/settings/keys".into() },
            if steps.has_key { t!("How to call") } else { t!("Make a key") },
            steps.has_agent,
        ),
        step(
            t!("Keep backups"),
            match &steps.backups {
                Some(timing) => t!("Written {timing}.", timing = sentence(timing)),
                None => t!("Whoever runs this server names a place for them.").into(),
            },
            "/settings/data".into(),
            t!("How"),
            steps.backups.is_some(),
        ),
    ]
}

fn outgoing_words(steps: &FirstSteps, sends: bool) -> String {
    match (&steps.test_mail, sends) {
        (Some(tried), _) if tried.good => {
            t!("A test mail to {address} was accepted.", address = tried.detail)
        }
        (Some(tried), true) => {
            t!("The last test mail to {address} did not leave.", address = tried.detail)
        }
        (None, true) => t!("There is an outgoing server. Send yourself a mail to try it.").into(),
        (_, false) => {
            t!("Replies need an outgoing server; a connected mailbox brings its own.").into()
        }
    }
}

fn records_words(frame: &PageLayout, records: Option<&StepOutcome>) -> String {
    match records {
        Some(found) if found.good => {
            t!("All of them were found for {domain}.", domain = found.detail)
        }
        Some(found) => t!(
            "Some were missing for {domain} {time}. The page of the inbox has what to publish.",
            domain = found.detail,
            time = frame.times.long(found.at).text
        ),
        None => t!("With SPF, DKIM and DMARC your replies are not taken for spam.").into(),
    }
}

/// Puts the page away for everybody.
pub async fn end(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    web.act(&posted.visitor, |tx, cx, _| first_steps::end_first_steps(tx, cx)).await?;
    web.redirect("/inbox?view=open", Flash::StepsOver)
}
