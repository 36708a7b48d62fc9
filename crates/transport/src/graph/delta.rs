//! The pages in which Microsoft Graph tells what is new in a folder.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// Bytes of an id and of a link. Those of Microsoft have a few hundred; what is longer is no such page.
const ID_BYTES: usize = 1_000;
const LINK_BYTES: usize = 16 * 1_024;

/// A mail of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphItem {
    /// Stays the same when the mail is moved (`IdType="ImmutableId"`).
    pub id: String,
    /// When the mailbox took it, in milliseconds.
    pub received_at: Option<i64>,
    /// Without angle brackets.
    pub message_id: Option<String>,
}

/// One page; either link leads on, and a delta link ends the round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeltaPage {
    pub items: Vec<GraphItem>,
    pub next_link: Option<String>,
    pub delta_link: Option<String>,
}

#[derive(Deserialize)]
struct WirePage {
    #[serde(default)]
    value: Vec<WireItem>,
    #[serde(rename = "@odata.nextLink")]
    next_link: Option<String>,
    #[serde(rename = "@odata.deltaLink")]
    delta_link: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireItem {
    id: String,
    received_date_time: Option<String>,
    internet_message_id: Option<String>,
    /// It left the folder.
    #[serde(rename = "@removed")]
    removed: Option<Value>,
}

impl DeltaPage {
    /// `None` for what is no such page. Ids and links are kept, and ids stand in lines.
    pub fn parse(body: &[u8]) -> Option<DeltaPage> {
        let WirePage { value, next_link, delta_link } = serde_json::from_slice(body).ok()?;
        if next_link.is_none() && delta_link.is_none() {
            return None;
        }
        let mut links = next_link.iter().chain(&delta_link);
        let are_sound = value.iter().all(|item| is_plain(&item.id, ID_BYTES))
            && links.all(|link| is_plain(link, LINK_BYTES));
        if !are_sound {
            return None;
        }
        let there = value.into_iter().filter(|item| item.removed.is_none());
        Some(DeltaPage { items: there.map(GraphItem::from).collect(), next_link, delta_link })
    }
}

impl From<WireItem> for GraphItem {
    fn from(item: WireItem) -> GraphItem {
        let received_at = item.received_date_time.and_then(|text| moment(&text));
        let bare = |id: String| mail::bare_message_id(&id).to_owned();
        let message_id = item.internet_message_id.map(bare).filter(|id| is_plain(id, ID_BYTES));
        GraphItem { id: item.id, received_at, message_id }
    }
}

fn is_plain(text: &str, most_bytes: usize) -> bool {
    (1..=most_bytes).contains(&text.len()) && !text.chars().any(char::is_control)
}

fn moment(text: &str) -> Option<i64> {
    let time: Timestamp = text.parse().ok()?;
    Some(time.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_what_is_there_and_where_it_goes_on() {
        let page = br#"{"@odata.context":"x","value":[
            {"@odata.etag":"w","id":"A","receivedDateTime":"2026-11-19T10:00:00Z",
             "internetMessageId":"<one@x.example>"},
            {"id":"B","@removed":{"reason":"deleted"}},
            {"id":"C"}],"@odata.nextLink":"https://graph.example/next"}"#;
        let page = DeltaPage::parse(page).unwrap();
        let first = GraphItem {
            id: "A".into(),
            received_at: Some(1_795_082_400_000),
            message_id: Some("one@x.example".into()),
        };
        let last = GraphItem { id: "C".into(), received_at: None, message_id: None };
        assert_eq!(page.items, [first, last]);
        assert_eq!(page.next_link.as_deref(), Some("https://graph.example/next"));
        let long =
            format!(r#"{{"value":[{{"id":"{}"}}],"@odata.deltaLink":"x"}}"#, "a".repeat(1_001));
        for bad in [
            "",
            "[]",
            r#"{"value":[]}"#,
            r#"{"value":[{}],"@odata.deltaLink":"x"}"#,
            r#"{"value":[{"id":"a\nb"}],"@odata.deltaLink":"x"}"#,
            r#"{"value":[{"id":""}],"@odata.deltaLink":"x"}"#,
            r#"{"value":[],"@odata.deltaLink":"x\u0000"}"#,
            &long,
        ] {
            assert_eq!(DeltaPage::parse(bad.as_bytes()), None, "{bad}");
        }
        let odd = br#"{"value":[{"id":"A","internetMessageId":"<a\u0000b@x.example>"}],"@odata.nextLink":"y"}"#;
        assert_eq!(DeltaPage::parse(odd).unwrap().items[0].message_id, None);
    }
}
