//! The expected values of a document.

use serde_json::Value;

/// What is known of a document; what nobody noted down is not asked for.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    pub vendor: Option<String>,
    pub amount: Option<f64>,
    pub currency: Option<String>,
    pub date: Option<String>,
    pub due_date: Option<String>,
    pub reference: Option<String>,
}

impl Truth {
    /// Found by looking for names in the text, which is another way than the reader's own.
    pub fn of_xml(bytes: &[u8]) -> Option<Truth> {
        let xml = String::from_utf8_lossy(bytes);
        let xml = xml.as_ref();
        let found = if xml.contains("CrossIndustry") {
            let head =
                part(xml, "ExchangedDocument").or_else(|| part(xml, "HeaderExchangedDocument"))?;
            Truth {
                vendor: part(xml, "SellerTradeParty").and_then(|seller| value(seller, "Name")),
                amount: number(xml, "GrandTotalAmount"),
                currency: value(xml, "InvoiceCurrencyCode"),
                date: part(head, "IssueDateTime")
                    .and_then(|day| value(day, "DateTimeString"))
                    .and_then(day),
                due_date: part(xml, "DueDateDateTime")
                    .and_then(|day| value(day, "DateTimeString"))
                    .and_then(day),
                reference: value(head, "ID"),
            }
        } else if xml.contains("AccountingSupplierParty") {
            let supplier = part(xml, "AccountingSupplierParty")?;
            Truth {
                vendor: value(supplier, "RegistrationName"),
                amount: number(xml, "TaxInclusiveAmount"),
                currency: value(xml, "DocumentCurrencyCode"),
                date: value(xml, "IssueDate"),
                due_date: value(xml, "DueDate"),
                reference: value(xml, "ID"),
            }
        } else if xml.contains("FatturaElettronica") {
            Truth {
                vendor: part(xml, "CedentePrestatore")
                    .and_then(|seller| value(seller, "Denominazione")),
                amount: number(xml, "ImportoTotaleDocumento"),
                currency: value(xml, "Divisa"),
                date: part(xml, "DatiGeneraliDocumento").and_then(|head| value(head, "Data")),
                due_date: value(xml, "DataScadenzaPagamento"),
                reference: value(xml, "Numero"),
            }
        } else {
            return None;
        };
        Some(found)
    }

    /// One object, or a list of which the first counts.
    pub fn of_json(text: &str) -> Option<Truth> {
        let json: Value = serde_json::from_str(text).ok()?;
        let json = json.get(0).unwrap_or(&json);
        let text = |name: &str| json[name].as_str().map(str::to_owned);
        Some(Truth {
            vendor: text("issuer"),
            amount: json["amount"].as_f64(),
            currency: text("currency"),
            date: text("date"),
            due_date: text("date_due"),
            reference: text("invoice_number"),
        })
    }
}

/// What stands between an element's tags, whatever its prefix.
fn part<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = xml;
    loop {
        let at = rest.find(name)?;
        let opens = rest[..at].rfind('<').is_some_and(|tag| {
            let prefix = &rest[tag + 1..at];
            prefix.is_empty() || prefix.ends_with(':') && !prefix.contains(['/', ' '])
        });
        let after = &rest[at + name.len()..];
        if opens && after.starts_with(['>', ' ', '\n', '\r', '\t']) {
            let inner = &after[after.find('>')? + 1..];
            let end = inner.find(&format!("{name}>"))?;
            let end = inner[..end].rfind("</")?;
            return Some(&inner[..end]);
        }
        rest = after;
    }
}

fn value(xml: &str, name: &str) -> Option<String> {
    let text = part(xml, name)?.trim().replace("&amp;", "&").replace("&apos;", "'");
    (!text.is_empty() && !text.contains('<')).then_some(text)
}

fn number(xml: &str, name: &str) -> Option<f64> {
    value(xml, name)?.parse().ok()
}

fn day(digits: String) -> Option<String> {
    let plain = digits.len() == 8;
    plain.then(|| format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..]))
}
