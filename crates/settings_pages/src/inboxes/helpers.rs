//! The sorting helper: topics, what it learned about each, and forgetting it. Each card of the page is
//! a template of its own.

use std::sync::Arc;

use actions::conversations::topics::{SortingReport, TopicReport};
use api::operations::list_tags;
use askama::Template;
use axum::extract::{Path, State};
use base::error::Error;
use base::ids::{TagId, TopicId};
use base::limits::TOPICS;
use translation::t;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::pages::lists::list_filters::ListFilters;
use web::visitor::Visitor;

use crate::{SettingsPage, location};

/// Examples from which on a topic counts as learned.
const LEARNED: i64 = 12;
/// Corrections from which on a topic may count as mixed up, and of how many given ones.
const MIXED_UP: i64 = 3;
const MIXED_UP_OF: i64 = 5;

#[derive(Template)]
#[template(path = "settings_helpers.html", whitespace = "minimize")]
struct HelpersPage {
    frame: PageLayout,
    topics: Vec<TopicView>,
    report: SortingReport,
    /// Tags that are no topics yet.
    tags: Vec<TagOffer>,
    tags_error: String,
    editing: TopicForm,
}

/// A topic in the table.
struct TopicView {
    id: String,
    name: String,
    words: String,
    /// Its open conversations.
    href: String,
    examples: i64,
    given: i64,
    corrected: String,
    open: i64,
    class: &'static str,
    icon: &'static str,
    state: String,
}

/// A tag of which a topic can be made.
struct TagOffer {
    id: String,
    name: String,
    conversations: String,
}

/// The form of a new topic, or of the one that is being changed.
#[derive(Default)]
struct TopicForm {
    /// Empty for a new one.
    id: String,
    name: String,
    words: String,
    name_error: String,
    words_error: String,
}

impl TopicForm {
    fn action(&self) -> String {
        match self.id.as_str() {
            "" => "/settings/helpers/topics".into(),
            id => format!("/settings/helpers/topics/{id}"),
        }
    }

    fn heading(&self) -> &'static str {
        if self.id.is_empty() { t!("New topic") } else { t!("Change the topic") }
    }

    fn refuse(&mut self, problems: &base::error::ValidationErrors) {
        for problem in &problems.0 {
            let error = match problem.field.as_str() {
                "words" => &mut self.words_error,
                _ => &mut self.name_error,
            };
            error.push_str(&problem.sentence);
        }
    }
}

impl HelpersPage {
    /// What the helper does with what it learned by now.
    fn stage(&self) -> String {
        let SortingReport { decided, needed, .. } = &self.report;
        if decided >= needed {
            return t!(
                "Mailroom sets a topic where it expects to be right nine times in ten, and \
                 suggests one elsewhere."
            )
            .into();
        }
        t!(
            "Mailroom only suggests topics until {needed} conversations are decided; {decided} \
             are.",
            needed,
            decided,
        )
    }

    fn has_room(&self) -> bool {
        (self.topics.len() as i64) < TOPICS
    }
}

fn topic_view(report: &TopicReport, is_sure: bool) -> TopicView {
    let TopicReport { examples, given, corrected, .. } = report;
    let (class, icon, state) = if *corrected >= MIXED_UP && corrected * MIXED_UP_OF >= *given {
        ("warn", "warn", t!("Mixed up").to_owned())
    } else if !is_sure {
        ("", "wait", t!("Only suggested").to_owned())
    } else if *examples < LEARNED {
        ("", "wait", t!("Learning, {examples} of {needed}", examples, needed = LEARNED))
    } else {
        ("ok", "check", t!("Learned").to_owned())
    };
    let corrected = match &report.confused {
        Some((Some(name), count)) => {
            t!("{corrected}; of all guesses {count} to {name}", corrected, count, name)
        }
        Some((None, count)) => {
            t!("{corrected}; of all guesses {count} to no topic", corrected, count)
        }
        None => corrected.to_string(),
    };
    TopicView {
        id: report.topic.id.to_string(),
        name: report.topic.name.clone(),
        words: report.topic.words.clone(),
        href: format!("/inbox?{}", ListFilters::of_topic(&report.topic.name).on("view=open")),
        examples: *examples,
        given: *given,
        corrected,
        open: report.open,
        class,
        icon,
        state,
    }
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

pub async fn edit_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let mut page = build(&web, &visitor).await?;
    let found = page.topics.iter().find(|topic| topic.id == id);
    let found = found.filter(|_| page.frame.administers).ok_or(Error::NotFound("topic"))?;
    let (name, words) = (found.name.clone(), found.words.clone());
    page.editing = TopicForm { id, name, words, ..TopicForm::default() };
    web.show(&visitor, &page)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<HelpersPage, PageError> {
    let (frame, (report, tags)) = web
        .page(visitor, location(SettingsPage::Helpers), |tx, cx, me| {
            let tags = if me.administers() { list_tags(tx, cx)? } else { Vec::new() };
            Ok((actions::conversations::topics::sorting_report(tx, cx)?, tags))
        })
        .await?;
    let is_sure = report.decided >= report.needed;
    let topics: Vec<TopicView> =
        report.topics.iter().map(|topic| topic_view(topic, is_sure)).collect();
    let is_topic =
        |name: &str| topics.iter().any(|topic| topic.name.to_lowercase() == name.to_lowercase());
    let tags = tags.into_iter().filter(|tag| tag.count > 0 && !is_topic(&tag.name));
    let tags = tags.map(|tag| TagOffer {
        id: tag.id.to_string(),
        name: tag.name,
        conversations: match tag.count {
            1 => t!("1 conversation").into(),
            count => t!("{count} conversations", count),
        },
    });
    let tags = tags.collect();
    let editing = TopicForm::default();
    Ok(HelpersPage { frame, topics, report, tags, tags_error: String::new(), editing })
}

form! {
    pub struct TopicFields {
        name: String,
        words: String,
    }

    pub struct TagChoice {
        tags: Vec<String>,
    }
}

pub async fn add(State(web): State<Arc<Web>>, posted: PostedForm<TopicFields>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (name, words) = (form.name.clone(), form.words.clone());
    let add = web
        .act(&visitor, move |tx, cx, _| {
            actions::conversations::topics::add_topic(tx, cx, &name, &words).map(|_| ())
        })
        .await;
    after_saving(&web, &visitor, "", form, add).await
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<TopicFields>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let topic = topic_id(&id)?;
    let (name, words) = (form.name.clone(), form.words.clone());
    let change = web
        .act(&visitor, move |tx, cx, _| {
            actions::conversations::topics::change_topic(tx, cx, &topic, &name, &words)
        })
        .await;
    after_saving(&web, &visitor, &id, form, change).await
}

/// The page after a topic was saved, or with what is wrong with it.
async fn after_saving(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    form: TopicFields,
    saved: Result<(), PageError>,
) -> PageResult {
    match saved.or_problems()? {
        Ok(()) => web.redirect("/settings/helpers", Flash::TopicSaved),
        Err(problems) => {
            let mut page = build(web, visitor).await?;
            let TopicFields { name, words } = form;
            page.editing = TopicForm { id: id.to_owned(), name, words, ..TopicForm::default() };
            page.editing.refuse(&problems);
            responses::again(&page)
        }
    }
}

pub async fn remove(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let topic = topic_id(&id)?;
    web.act(&posted.visitor, move |tx, cx, _| {
        actions::conversations::topics::remove_topic(tx, cx, &topic)
    })
    .await?;
    web.redirect("/settings/helpers", Flash::TopicRemoved)
}

pub async fn make_of_tags(
    State(web): State<Arc<Web>>,
    posted: PostedForm<TagChoice>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let tags: Option<Vec<TagId>> = form.tags.iter().map(|tag| TagId::parse(tag)).collect();
    let tags = tags.ok_or(Error::NotFound("tag"))?;
    let made = web
        .act(&visitor, move |tx, cx, _| {
            actions::conversations::topics::make_topics_of_tags(tx, cx, &tags).map(|_| ())
        })
        .await;
    match made.or_problems()? {
        Ok(()) => web.redirect("/settings/helpers", Flash::TopicsMade),
        Err(problems) => {
            let mut page = build(&web, &visitor).await?;
            page.tags_error = problems.sentences();
            responses::again(&page)
        }
    }
}

pub async fn forget(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    web.act(&posted.visitor, |tx, cx, _| actions::conversations::topics::forget_learned(tx, cx))
        .await?;
    web.redirect("/settings/helpers", Flash::SortingForgotten)
}

fn topic_id(id: &str) -> base::error::Result<TopicId> {
    TopicId::parse(id).ok_or(Error::NotFound("topic"))
}
