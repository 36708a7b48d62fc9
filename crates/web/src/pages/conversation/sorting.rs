//! Topic and urgency on the page of a conversation: what the helper thinks, and what somebody says.

use std::sync::Arc;

use actions::conversations::open_conversation::OpenConversation;
use api::operations::SetSortingInput;
use api::operations::set_sorting;
use axum::extract::{Path, State};
use base::error::Error;
use base::states::Urgency;
use model::conversations::timeline::TimelineEvent;
use translation::t;

use crate::Web;
use crate::forms::form::{PostedForm, form};
use crate::layout::responses::{PageResult, see_other};
use crate::pages::lists::list_query::ListQuery;

/// What a conversation is about and how urgent it is.
pub struct SortingView {
    pub topic: Option<String>,
    pub urgency: Option<UrgencyView>,
    /// Topics to choose from.
    pub topics: Vec<String>,
    /// True when somebody said that none of the topics fits.
    pub is_none: bool,
    /// What the helper thinks and nobody confirmed.
    pub card: Option<SortingCard>,
}

pub struct UrgencyView {
    pub class: &'static str,
    pub label: &'static str,
    /// The urgencies to change it to: their words, and what a button calls them.
    pub others: Vec<(&'static str, &'static str)>,
}

/// What the helper found, with buttons that confirm or correct it.
pub struct SortingCard {
    pub guess: Option<TopicGuess>,
    /// A sentence about the urgency and its reasons; none for a normal one.
    pub urgency: Option<(String, Vec<String>)>,
}

pub struct TopicGuess {
    pub topic: String,
    /// The helper has set it, rather than suggests it.
    pub given: bool,
    pub reasons: Vec<String>,
    pub others: Vec<String>,
}

impl SortingView {
    pub fn of(open: &OpenConversation) -> SortingView {
        let conversation = &open.conversation;
        let topics: Vec<String> = open.topics.iter().map(|topic| topic.name.clone()).collect();
        SortingView {
            topic: conversation.topic.clone(),
            urgency: conversation.urgency.map(UrgencyView::of),
            is_none: conversation.is_topic_decided() && conversation.topic.is_none(),
            card: card(open, &topics),
            topics,
        }
    }

    /// True where nothing can be said about it: no topics, and no mail that was sorted.
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty() && self.urgency.is_none()
    }
}

fn card(open: &OpenConversation, topics: &[String]) -> Option<SortingCard> {
    let conversation = &open.conversation;
    if conversation.held {
        return None;
    }
    let suggested = conversation.suggested_topic().map(|topic| (topic.to_owned(), false));
    let given = conversation.topic.clone().filter(|_| !conversation.is_topic_decided());
    let guess = suggested.or(given.map(|topic| (topic, true))).map(|(topic, given)| TopicGuess {
        others: topics.iter().filter(|other| **other != topic).cloned().collect(),
        reasons: conversation.topic_reasons.to_vec(),
        topic,
        given,
    });
    let unusual = |urgency: &Urgency| *urgency != Urgency::Normal;
    let urgency = conversation.urgency.filter(unusual);
    let urgency = urgency.filter(|_| !conversation.is_urgency_decided()).map(|urgency| {
        (UrgencyView::of(urgency).label.to_owned(), conversation.urgency_reasons.to_vec())
    });
    (guess.is_some() || urgency.is_some()).then_some(SortingCard { guess, urgency })
}

impl UrgencyView {
    fn of(urgency: Urgency) -> UrgencyView {
        let label = |urgency| match urgency {
            Urgency::High => ("warn", t!("High urgency")),
            Urgency::Normal => ("", t!("Normal urgency")),
            Urgency::Low => ("", t!("Low urgency")),
        };
        let others = [Urgency::High, Urgency::Normal, Urgency::Low].into_iter();
        let others = others.filter(|other| *other != urgency);
        UrgencyView {
            class: label(urgency).0,
            label: label(urgency).1,
            others: others.map(|other| (other.as_str(), label(other).1)).collect(),
        }
    }
}

/// What the timeline says, with the place of the actor's name; empty for other events.
pub fn sorted_words(event: &TimelineEvent) -> String {
    let TimelineEvent::Sorted { topic, urgency, .. } = event else { return String::new() };
    let topic = topic.as_deref().unwrap_or(t!("no topic"));
    match urgency {
        Some(Urgency::High) => t!("{actor} sorted this: {topic}, high urgency", topic),
        Some(Urgency::Normal) => t!("{actor} sorted this: {topic}, normal urgency", topic),
        Some(Urgency::Low) => t!("{actor} sorted this: {topic}, low urgency", topic),
        None => t!("{actor} sorted this: {topic}", topic),
    }
}

form! {
    pub struct SortingForm {
        /// The topic that was chosen.
        topic: Option<String>,
        /// True when none of them fits.
        none: bool,
        urgency: Option<String>,
        from: ListQuery,
    }
}

pub async fn sort(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<SortingForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let urgency = match &form.urgency {
        None => None,
        Some(word) => {
            let wrong = || Error::invalid("urgency", "Choose low, normal or high.");
            Some(Urgency::parse(word).ok_or_else(wrong)?)
        }
    };
    let topic = if form.none { Some(None) } else { form.topic.map(Some) };
    let input = SetSortingInput { id: id.clone(), topic, urgency };
    web.act(&visitor, move |tx, cx, _| set_sorting(tx, cx, input.clone()).map(|_| ())).await?;
    Ok(see_other(&form.from.conversation(&id)))
}
