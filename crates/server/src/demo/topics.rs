//! The topics of the sample workspace, which have learned from its tags.

use actions::conversations::topics::{add_topic, make_topics_of_tags};
use api::operations::{ListConversationsInput, SetSortingInput};
use api::operations::{list_conversations, list_tags, set_sorting};
use base::app::Cx;
use base::error::Result;
use base::ids::TagId;
use db::Tx;

/// Name, which is that of a tag, and words that describe it.
const TOPICS: [(&str, &str); 4] = [
    ("Returns", "broken, cracked, exchange, refund, money back, wrong part, Rückgabe, kaputt"),
    (
        "Shipping",
        "order, parcel, delivery, courier, when does it arrive, Lieferzeit, livraison, envío",
    ),
    ("Invoice", "invoice, bill, VAT number, payment, reminder, Rechnung, facture"),
    ("Trade", "hotel, shop, wholesale, rooms, quantity, offer for a project"),
];

/// Tags whose conversations are about none of them.
const OTHERS: [&str; 4] = ["jobs", "press", "bug", "vip"];

/// Makes the topics; the conversations with a tag of the same name are their first examples.
pub fn teach(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    for (name, words) in TOPICS {
        add_topic(tx, cx, name, words)?;
    }
    let is_topic = |name: &str| TOPICS.iter().any(|(topic, _)| topic.eq_ignore_ascii_case(name));
    let tags: Vec<TagId> = list_tags(tx, cx)?
        .into_iter()
        .filter(|tag| is_topic(&tag.name))
        .map(|tag| tag.id)
        .collect();
    make_topics_of_tags(tx, cx, &tags)?;
    for tag in OTHERS {
        let tagged = ListConversationsInput {
            view: Some("all".into()),
            tag: Some(tag.into()),
            ..ListConversationsInput::default()
        };
        for conversation in list_conversations(tx, cx, tagged)?.items {
            let id = conversation.id.to_string();
            let none = SetSortingInput { id, topic: Some(None), urgency: None };
            set_sorting(tx, cx, none)?;
        }
    }
    Ok(())
}
