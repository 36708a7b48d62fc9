//! The day of a paper, and the day by which it is to be paid.

use jiff::civil::Date;

use super::dates::{self, Order};
use super::reference::Reference;
use super::sheet::{Label, Near, Sheet};
use super::tokens::{find, has, tokens};
use super::words::{ANY_DATE, DATE, DUE, OTHER_DATE};

/// Steps from a label to its day, at most.
const STEPS: u32 = 6;
/// Characters between a label and its day in the same cell, at most.
const CHARS_BETWEEN: usize = 24;
/// Days that people are given to pay, at most.
const DAYS_TO_PAY: i32 = 400;

pub struct Days {
    pub date: Option<Date>,
    pub due: Option<Date>,
}

pub fn days(sheet: &Sheet, order: Order, reference: Option<&Reference>) -> Days {
    let mut made: Vec<(i32, Date)> = Vec::new();
    for label in sheet.labels(*DATE) {
        made.extend(behind(sheet, &label, order).map(|(steps, day)| (100 - 6 * steps, day)));
    }
    let numbered = reference.filter(|found| found.in_line);
    made.extend(numbered.and_then(|found| beside_number(sheet, found, order)).map(|day| (90, day)));
    for label in sheet.labels(*ANY_DATE) {
        let cell = sheet.cell(&label);
        let other = has(&cell.tokens, *DUE) || has(&cell.tokens, *OTHER_DATE);
        if !other && label.from == 0 {
            made.extend(behind(sheet, &label, order).map(|(steps, day)| (70 - 6 * steps, day)));
        }
    }
    made.extend(anywhere(sheet, order));
    let date = best(made);
    let mut due: Vec<(i32, Date)> = Vec::new();
    for label in sheet.labels(*DUE) {
        due.extend(behind(sheet, &label, order).map(|(steps, day)| (100 - 6 * steps, day)));
    }
    let in_time =
        |day: &Date| date.is_none_or(|date| (0..=DAYS_TO_PAY).contains(&(*day - date).get_days()));
    Days { date, due: best(due.into_iter().filter(|(_, day)| in_time(day)).collect()) }
}

/// The best, and of equals the first.
fn best(found: Vec<(i32, Date)>) -> Option<Date> {
    let mut best: Option<(i32, Date)> = None;
    for (score, day) in found {
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, day));
        }
    }
    best.map(|(_, day)| day)
}

/// The day nearest to a label.
fn behind(sheet: &Sheet, label: &Label, order: Order) -> Option<(i32, Date)> {
    let own = |near: &Near| {
        let day = dates::days(&near.text, order).first().copied()?;
        let between = near.text[..day.start].chars().count();
        // Another label between the two takes the day for itself.
        let taken = near.steps > 0 && between > 0 && {
            let words = tokens(&near.text[..day.start]);
            has(&words, *DUE) || has(&words, *OTHER_DATE) || has(&words, *DATE)
        };
        (between <= CHARS_BETWEEN && !taken).then_some((near.steps as i32, day.date))
    };
    sheet.near(label).iter().filter(|near| near.steps <= STEPS).find_map(own)
}

/// "Invoice 12 of 5 March", in one line or going on in the next.
fn beside_number(sheet: &Sheet, reference: &Reference, order: Order) -> Option<Date> {
    let row = sheet.rows.get(reference.row)?;
    let text = row.text();
    let (_, rest) = text.split_once(&reference.text)?;
    if let Some(day) = dates::days(rest, order).first() {
        let words = tokens(&rest[..day.start]);
        let clear = !has(&words, *DUE) && !has(&words, *OTHER_DATE);
        return clear.then_some(day.date);
    }
    let goes_on = tokens(rest).last().is_some_and(|last| {
        matches!(last.word.as_str(), "vom" | "du" | "del" | "of" | "van" | "from" | "dated" | "am")
    });
    let next = sheet.rows.get(reference.row + 1).filter(|_| goes_on)?.text();
    dates::days(&next, order).first().filter(|day| day.start == 0).map(|day| day.date)
}

/// Any day that no label claims for something else; those further up first.
fn anywhere(sheet: &Sheet, order: Order) -> Vec<(i32, Date)> {
    let mut found = Vec::new();
    for row in sheet.rows.iter().filter(|row| row.page == 0) {
        let text = row.text();
        for day in dates::days(&text, order) {
            let words = tokens(&text[..day.start]);
            let claimed = find(&words, *DUE).is_some() || find(&words, *OTHER_DATE).is_some();
            let penalty = if claimed { 30 } else { 0 };
            found.push((40 - (20.0 * row.depth) as i32 - penalty, day.date));
        }
    }
    found
}
