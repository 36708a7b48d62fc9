//! Reads FatturaPA invoices.

use roxmltree::Node;

use super::node::{amount, at, code, date, text, within};
use crate::paper::{ExtractedFields, sound};

/// The invoice of the Italian state.
pub fn read(root: Node<'_, '_>) -> ExtractedFields {
    let head = within(root, "DatiGeneraliDocumento");
    let seller = within(root, "CedentePrestatore");
    let inside = |holder: Option<Node<'_, '_>>, name: &str| text(within(holder?, name));
    let person = || {
        let names = [inside(seller, "Nome"), inside(seller, "Cognome")];
        let name: Vec<String> = names.into_iter().flatten().collect();
        (!name.is_empty()).then(|| name.join(" "))
    };
    ExtractedFields {
        vendor: inside(seller, "Denominazione").or_else(person),
        amount: amount(head.and_then(|head| at(head, &["ImportoTotaleDocumento"])))
            .or_else(|| sum(root)),
        currency: code(head.and_then(|head| at(head, &["Divisa"]))),
        date: date(head.and_then(|head| at(head, &["Data"]))),
        due_date: date(within(root, "DataScadenzaPagamento")),
        reference: text(head.and_then(|head| at(head, &["Numero"]))),
    }
}

/// What the summary by rates adds up to, where the whole is not said.
fn sum(root: Node<'_, '_>) -> Option<f64> {
    let parts = root.descendants().filter(|node| node.tag_name().name() == "DatiRiepilogo");
    let parts: Vec<f64> = parts
        .map(|part| {
            let value = |name: &str| amount(at(part, &[name])).unwrap_or(0.0);
            value("ImponibileImporto") + value("Imposta")
        })
        .collect();
    let cents = (parts.iter().sum::<f64>() * 100.0).round() / 100.0;
    (!parts.is_empty()).then_some(cents).and_then(sound)
}
