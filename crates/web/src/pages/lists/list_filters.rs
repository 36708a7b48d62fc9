//! Narrowing a list of conversations by topic and urgency.

use api::operations::ListConversationsInput;
use base::error::Error;
use base::limits::TOPIC_CHARS;
use base::states::Urgency;
use translation::{msg, t, text};

use crate::forms::form::FormFields;

/// What a list is narrowed by.
#[derive(Clone, Default)]
pub struct ListFilters {
    /// A topic's name.
    topic: Option<String>,
    urgency: Option<Urgency>,
    /// An order other than newest first.
    sort: Option<&'static str>,
}

/// The orders of a list and what they are called.
const ORDERS: [(Option<&str>, &str); 3] = [
    (None, msg!("Newest first")),
    (Some("oldest"), msg!("Oldest first")),
    (Some("waiting"), msg!("Longest waiting")),
];

/// The menu above a list.
pub struct FilterMenu {
    /// What the list is narrowed by, or that it can be.
    pub label: String,
    pub is_narrowed: bool,
    pub topics: Vec<FilterChoice>,
    pub urgencies: Vec<FilterChoice>,
    pub orders: Vec<FilterChoice>,
    /// The whole list.
    pub all: String,
}

pub struct FilterChoice {
    pub href: String,
    pub label: String,
    pub current: bool,
}

impl ListFilters {
    pub fn from_query(fields: &FormFields) -> base::error::Result<ListFilters> {
        let topic = fields.opt("topic");
        if topic.as_ref().is_some_and(|topic| topic.chars().count() > TOPIC_CHARS) {
            return Err(Error::NotFound("list"));
        }
        let urgency = match fields.opt("urgency") {
            None => None,
            Some(word) => Some(Urgency::parse(&word).ok_or(Error::NotFound("list"))?),
        };
        let sort = match fields.opt("sort").as_deref() {
            None | Some("newest") => None,
            Some("oldest") => Some("oldest"),
            Some("waiting") => Some("waiting"),
            Some(_) => return Err(Error::NotFound("list")),
        };
        Ok(ListFilters { topic, urgency, sort })
    }

    /// By a topic alone.
    pub fn of_topic(name: &str) -> ListFilters {
        ListFilters { topic: Some(name.to_owned()), ..ListFilters::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.topic.is_none() && self.urgency.is_none()
    }

    pub fn narrow(&self, input: &mut ListConversationsInput) {
        input.topic = self.topic.clone();
        input.urgency = self.urgency;
        input.sort = self.sort.map(str::to_owned);
    }

    /// The query of a list, narrowed by these.
    pub fn on(&self, list: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(list.to_owned());
        if let Some(topic) = &self.topic {
            query.append_pair("topic", topic);
        }
        if let Some(urgency) = self.urgency {
            query.append_pair("urgency", urgency.as_str());
        }
        if let Some(sort) = self.sort {
            query.append_pair("sort", sort);
        }
        query.finish()
    }

    /// The menu for a list, by the query that it has without these.
    pub fn menu(&self, list: &str, topics: &[String]) -> FilterMenu {
        let href = |filters: ListFilters| format!("/inbox?{}", filters.on(list));
        let topic = |name: &String| FilterChoice {
            href: href(ListFilters { topic: Some(name.clone()), ..self.clone() }),
            label: name.clone(),
            current: self.topic.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name)),
        };
        let urgencies = [
            (Urgency::High, t!("High urgency")),
            (Urgency::Normal, t!("Normal urgency")),
            (Urgency::Low, t!("Low urgency")),
        ];
        let urgency = |(urgency, label): &(Urgency, &str)| FilterChoice {
            href: href(ListFilters { urgency: Some(*urgency), ..self.clone() }),
            label: (*label).to_owned(),
            current: self.urgency == Some(*urgency),
        };
        let orders = ORDERS.into_iter().map(|(sort, label)| FilterChoice {
            href: href(ListFilters { sort, ..self.clone() }),
            label: text(label).to_owned(),
            current: self.sort == sort,
        });
        let urgencies: Vec<FilterChoice> = urgencies.iter().map(urgency).collect();
        let chosen = urgencies.iter().find(|choice| choice.current).map(|one| one.label.clone());
        let order = ORDERS.iter().find(|(sort, _)| sort.is_some() && *sort == self.sort);
        let order = order.map(|(_, label)| text(label).to_owned());
        let label: Vec<String> =
            self.topic.clone().into_iter().chain(chosen).chain(order).collect();
        FilterMenu {
            label: if label.is_empty() { t!("Filter").into() } else { label.join(", ") },
            is_narrowed: !self.is_empty() || self.sort.is_some(),
            topics: topics.iter().map(topic).collect(),
            urgencies,
            orders: orders.collect(),
            all: format!("/inbox?{list}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrowed_list_keeps_its_query_and_names_what_it_is_narrowed_by() {
        let asked = FormFields::read(b"view=open&topic=R%26D&urgency=high");
        let filters = ListFilters::from_query(&asked).expect("filters");
        assert_eq!(filters.on("view=open"), "view=open&topic=R%26D&urgency=high");
        let menu = filters.menu("view=open", &["Refunds".into(), "R&D".into()]);
        assert_eq!(
            (menu.label.as_str(), menu.all.as_str()),
            ("R&D, High urgency", "/inbox?view=open")
        );
        assert_eq!(menu.topics[0].href, "/inbox?view=open&topic=Refunds&urgency=high");
        assert!(menu.topics[1].current && menu.urgencies[0].current && !menu.topics[0].current);
        assert!(ListFilters::from_query(&FormFields::read(b"urgency=very")).is_err());
    }
}
