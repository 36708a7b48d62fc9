//! Prints scores by way of reading, half and field.

use std::collections::BTreeMap;

use extraction::{ExtractedDocument, PaperKind};

use crate::truth::Truth;

const FIELDS: [&str; 7] = ["kind", "amount", "currency", "date", "reference", "vendor", "dueDate"];

#[derive(Default)]
pub struct Report {
    /// Right and asked, for each way of reading, half and field.
    counts: BTreeMap<(&'static str, bool, &'static str), (u32, u32)>,
    slowest: (f64, String),
}

impl Report {
    pub fn record_time(&mut self, name: &str, millis: f64) {
        if millis > self.slowest.0 {
            self.slowest = (millis, name.to_owned());
        }
    }

    pub fn compare(
        &mut self,
        way: &'static str,
        name: &str,
        truth: &Truth,
        paper: &ExtractedDocument,
    ) {
        let (read, held) = (&paper.fields, is_held_out(name));
        let mut note = |field: &'static str, wanted: Option<String>, got: Option<String>| {
            let Some(wanted) = wanted else { return };
            let right = got.as_ref() == Some(&wanted);
            let count = self.counts.entry((way, held, field)).or_default();
            *count = (count.0 + u32::from(right), count.1 + 1);
            if !right && !held {
                println!("{way:9} {name:60} {field:9} wanted {wanted:?}, got {got:?}");
            }
        };
        note(
            "kind",
            Some("Invoice".into()),
            Some(format!("{:?}", paper.kind)).filter(|_| paper.kind != PaperKind::Other),
        );
        let cents = |amount: f64| format!("{amount:.2}");
        note("amount", truth.amount.map(cents), read.amount.map(cents));
        note("currency", truth.currency.clone(), read.currency.clone());
        note("date", truth.date.clone(), read.date.clone());
        note("dueDate", truth.due_date.clone(), read.due_date.clone());
        let number = |text: &String| text.trim_start_matches('#').to_owned();
        note(
            "reference",
            truth.reference.as_ref().map(number),
            read.reference.as_ref().map(number),
        );
        note(
            "vendor",
            truth.vendor.as_ref().map(|name| fold(name)),
            read.vendor.as_ref().map(|name| fold(name)),
        );
    }

    pub fn print(&self) {
        for way in ["with XML", "by words"] {
            println!("\n{way:12} {:>16} {:>16} {:>16}", "written with", "held out", "all");
            for field in FIELDS {
                let count =
                    |held: bool| self.counts.get(&(way, held, field)).copied().unwrap_or_default();
                let (open, held) = (count(false), count(true));
                let all = (open.0 + held.0, open.1 + held.1);
                println!("  {field:10} {:>16} {:>16} {:>16}", share(open), share(held), share(all));
            }
        }
        println!("\nThe slowest file took {:.0} ms to open ({}).", self.slowest.0, self.slowest.1);
    }
}

fn share((right, asked): (u32, u32)) -> String {
    match asked {
        0 => "-".into(),
        _ => format!("{right}/{asked} {:.0} %", 100.0 * f64::from(right) / f64::from(asked)),
    }
}

/// Letters and digits alone, without case and legal forms' dots.
fn fold(name: &str) -> String {
    name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// FNV-1a of the name: the same half on every machine.
fn is_held_out(name: &str) -> bool {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 8) % 2 == 1
}
