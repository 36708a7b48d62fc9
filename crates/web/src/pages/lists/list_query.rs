//! The list that a conversation was opened from, which its forms carry and lead back to.

use crate::forms::form::{FormFields, FormValue, form};

/// The query of a list, such as `view=waiting`.
#[derive(Clone, Default)]
pub struct ListQuery(String);

/// The parameters of a list; all others are dropped.
const KNOWN: [&str; 7] = ["view", "mailbox", "tag", "topic", "urgency", "sort", "cursor"];

impl FormValue for ListQuery {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<ListQuery> {
        let text = fields.get(name);
        let pairs = url::form_urlencoded::parse(text.as_bytes());
        let known = pairs.filter(|(name, _)| KNOWN.contains(&name.as_ref()));
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        Ok(ListQuery(query.extend_pairs(known).finish()))
    }
}

impl ListQuery {
    /// The address of a conversation beside the list.
    pub fn conversation(&self, id: &str) -> String {
        match self.0.as_str() {
            "" => format!("/conversations/{id}"),
            query => format!("/conversations/{id}?{query}"),
        }
    }

    /// The same with the composer open.
    pub fn composer(&self, id: &str, write: &str) -> String {
        match self.0.as_str() {
            "" => format!("/conversations/{id}?write={write}#body"),
            query => format!("/conversations/{id}?{query}&write={write}#body"),
        }
    }

    /// The address of the list.
    pub fn list(&self) -> String {
        match self.0.as_str() {
            "" => "/inbox".into(),
            query => format!("/inbox?{query}"),
        }
    }

    /// `view=waiting`; empty for no list.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The list of a page, by the page's own query.
    pub fn of_page(asked: &FormFields) -> ListQuery {
        let known = asked.pairs().iter().filter(|(name, _)| KNOWN.contains(&name.as_str()));
        ListQuery(url::form_urlencoded::Serializer::new(String::new()).extend_pairs(known).finish())
    }

    /// The query of the page that shows a conversation beside the list.
    pub fn fields(&self) -> FormFields {
        FormFields::read(self.0.as_bytes())
    }

    /// The same with the composer open.
    pub fn composer_fields(&self) -> FormFields {
        FormFields::read(format!("{}&write=reply", self.0).as_bytes())
    }
}

form! {
    /// A button on the page of a conversation.
    pub struct ConversationButton {
        from: ListQuery,
    }
}
