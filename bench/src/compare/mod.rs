//! Two builds of the server in turns on the same subjects: each starts its own data folder, gets the same mail
//! by SMTP, and answers the same requests. What counts is the ratio of two turns that follow one another.

mod side;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::database::Databases;
use crate::fill::workspace::INBOX;
use crate::inbox_figures::{median, wait_for_rest};
use crate::receive::{Customers, MailThreads};
use side::Side;

#[derive(Args, Clone, Debug)]
pub struct CompareOptions {
    /// The server's binary before a change
    #[arg(value_name = "BINARY")]
    base: PathBuf,
    /// The one after it
    #[arg(value_name = "BINARY")]
    changed: PathBuf,
    #[command(flatten)]
    databases: Databases,
    /// How many mails come in
    #[arg(long, default_value_t = 2_000, value_name = "NUMBER")]
    messages: usize,
    /// How many connections send them, every second time; the other times it is one
    #[arg(long, default_value_t = 16, value_name = "NUMBER")]
    connections: usize,
    /// How often the two take turns with each figure
    #[arg(long, default_value_t = 5, value_name = "NUMBER")]
    turns: usize,
    /// How long a turn is
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    seconds: f64,
    /// What the mails are made up from
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
}

/// The turns of one figure: the rate of the changed build over that of the base.
#[derive(Debug, PartialEq)]
struct TurnRatios {
    figure: String,
    base: f64,
    changed: f64,
    ratios: Vec<f64>,
}

impl TurnRatios {
    /// `turns` are the rates of both, turn by turn.
    fn new(figure: &str, turns: &[(f64, f64)]) -> TurnRatios {
        let side =
            |rate: fn(&(f64, f64)) -> f64| median(&turns.iter().map(rate).collect::<Vec<_>>());
        TurnRatios {
            figure: figure.to_owned(),
            base: side(|turn| turn.0),
            changed: side(|turn| turn.1),
            ratios: turns.iter().map(|(base, changed)| changed / base.max(f64::EPSILON)).collect(),
        }
    }

    fn middle(&self) -> f64 {
        median(&self.ratios)
    }

    /// The smallest and the largest.
    fn spread(&self) -> (f64, f64) {
        let smallest = self.ratios.iter().copied().fold(f64::INFINITY, f64::min);
        (smallest, self.ratios.iter().copied().fold(0.0, f64::max))
    }

    fn tell(&self, database: &str) {
        let round = |value: f64| (value * 1_000.0).round() / 1_000.0;
        let (least, most) = self.spread();
        println!(
            "{}",
            json!({
                "figure": self.figure, "db": database, "base": round(self.base),
                "changed": round(self.changed), "ratio": round(self.middle()),
                "least": round(least), "most": round(most), "turns": self.ratios.len(),
            })
        );
    }

    fn print(&self) {
        let (least, most) = self.spread();
        println!(
            "{:<28}{:>12.1}{:>12.1}{:>9.2}   {least:.2} to {most:.2}",
            self.figure,
            self.base,
            self.changed,
            self.middle(),
        );
    }
}

pub fn run(options: &CompareOptions) -> Result<(), String> {
    let mut customers = Customers::new(options.seed)?;
    let threads = MailThreads::write(&mut customers, options.messages, INBOX)?;
    for kind in options.databases.kinds() {
        let names = customers.names()?;
        let start = |binary: &PathBuf, name: &str| {
            Side::start(binary, kind, options.databases.postgres(), name, names.address)
        };
        let sides = (start(&options.base, "base")?, start(&options.changed, "changed")?);
        let mut figures = receive(options, &threads, &sides)?;
        wait_for_rest(&sides.0.server)?;
        wait_for_rest(&sides.1.server)?;
        figures.extend(ask(options, &customers, &sides)?);
        figures.push(memory(&sides)?);
        figures.iter().for_each(|figure| figure.tell(kind.name()));
        println!(
            "\n{}, answers a second; the ratio is the second build over the first\n",
            kind.name()
        );
        println!("{:<28}{:>12}{:>12}{:>9}   spread", "", "first", "second", "ratio");
        figures.iter().for_each(TurnRatios::print);
    }
    Ok(())
}

/// The same mail for both, round after round, by one connection and by many.
fn receive(
    options: &CompareOptions,
    threads: &MailThreads,
    sides: &(Side, Side),
) -> Result<Vec<TurnRatios>, String> {
    let (mut by_one, mut by_many) = (Vec::new(), Vec::new());
    for round in 0..threads.rounds() {
        let is_one = round % 2 == 1;
        let connections = if is_one { 1 } else { options.connections };
        let send = |side: &Side| threads.send_round("mail", round, connections, side.smtp);
        let rates = in_turn(round, || send(&sides.0), || send(&sides.1))?;
        if is_one { by_one.push(rates) } else { by_many.push(rates) }
    }
    let many = format!("receive, {} connections", options.connections);
    Ok(vec![TurnRatios::new("receive, 1 connection", &by_one), TurnRatios::new(&many, &by_many)])
}

fn ask(
    options: &CompareOptions,
    customers: &Customers,
    sides: &(Side, Side),
) -> Result<Vec<TurnRatios>, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let (first, second) = (sides.0.figures(customers)?, sides.1.figures(customers)?);
    let mut figures = Vec::new();
    for (first, second) in first.iter().zip(&second) {
        let turns = (0..options.turns.max(1)).map(|turn| {
            in_turn(
                turn,
                || first.measure(&runtime, &sides.0.server, options.seconds),
                || second.measure(&runtime, &sides.1.server, options.seconds),
            )
        });
        figures.push(TurnRatios::new(first.name, &turns.collect::<Result<Vec<_>, _>>()?));
    }
    Ok(figures)
}

/// Resident memory after all that, in MB: here less is better.
fn memory(sides: &(Side, Side)) -> Result<TurnRatios, String> {
    let both = (sides.0.server.memory_mb()?, sides.1.server.memory_mb()?);
    Ok(TurnRatios::new("memory, MB (less is better)", &[both]))
}

/// One after the other; who is first changes from turn to turn.
fn in_turn<T>(
    turn: usize,
    first: impl FnOnce() -> Result<T, String>,
    second: impl FnOnce() -> Result<T, String>,
) -> Result<(T, T), String> {
    if turn.is_multiple_of(2) {
        let first = first()?;
        return Ok((first, second()?));
    }
    let second = second()?;
    Ok((first()?, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_of_two_turns_that_follow_one_another() {
        let ratios = TurnRatios::new("list", &[(100.0, 200.0), (10.0, 10.0), (50.0, 75.0)]);
        assert_eq!(ratios.middle(), 1.5);
        assert_eq!(ratios.spread(), (1.0, 2.0));
        assert_eq!((ratios.base, ratios.changed), (50.0, 75.0));
    }

    #[test]
    fn the_two_are_first_in_turns_and_keep_their_places() {
        let order = std::cell::RefCell::new(Vec::new());
        for turn in 0..2 {
            let say = |name: &'static str| {
                order.borrow_mut().push(name);
                Ok(name)
            };
            assert_eq!(in_turn(turn, || say("a"), || say("b")), Ok(("a", "b")));
        }
        assert_eq!(*order.borrow(), ["a", "b", "b", "a"]);
    }
}
