//! Measures Mailroom: fills databases, starts the server, drives it over loopback, reports.

mod agents;
mod attack;
mod authentication;
mod client;
mod compare;
mod constant;
mod crash;
mod database;
mod deliveries;
mod fill;
mod grown;
mod guests;
mod hosted;
mod inbox_figures;
mod live;
mod measure;
mod receive;
mod receiver;
mod report;
mod requests;
mod run;
mod server;
mod soak;
mod triage;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The server has it too; the constant answer must not lose by another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Fills databases, starts the server on them, drives it over loopback, and prints tables, one
/// JSON line per figure, and how the figures stand to the goals.
#[derive(Parser)]
#[command(name = "mailroom-bench", version, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: run::RunOptions,
}

#[derive(Subcommand)]
enum Command {
    /// Only fill an empty database, and print a key for it as one JSON object
    Seed {
        /// sqlite:PATH or postgres://…
        #[arg(long, value_name = "URL")]
        database: String,
        /// How many messages, in a tenth as many conversations
        #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
        messages: usize,
        /// What the workspace is made up from
        #[arg(long, default_value_t = 1, value_name = "NUMBER")]
        seed: u64,
    },
    /// Measure how fast and how soon events reach webhooks, and what bad receivers do to a good one
    Deliveries(deliveries::DeliveriesOptions),
    /// Measure how soon a change reaches every open page, and what memory a page costs
    Live(live::LiveOptions),
    /// Measure what lists and conversations with protected messages cost beside those with others
    Protected(guests::protected::ProtectedOptions),
    /// Measure how fast mail comes in by SMTP, and what memory and disk it takes
    Receive(receive::ReceiveOptions),
    /// Measure what sorting costs the receiving of mail: with it and without it, in turns
    Sorting(receive::sorting::SortingOptions),
    /// Measure lists, searches and reads on PostgreSQL after mail came in, before anything was
    /// analysed, a minute later, and when everything was
    Statistics(receive::statistics::StatisticsOptions),
    /// Measure an inbox that has lived: as it is, after a restart, and when its search index is new
    Grown(grown::GrownOptions),
    /// Measure two builds of the server in turns on the same mail, and print the ratios
    Compare(compare::CompareOptions),
    /// Kill the server at random moments while clients work, and check that nothing promised is lost
    Crash(crash::CrashOptions),
    /// Try what attackers want of an agent with keys that were taken over, and check that nothing takes
    /// effect outside without a person
    Agents(agents::AgentsOptions),
    /// Attack the server with hostile HTML, silent connections and large bodies, and check its bounds
    Attack(attack::AttackOptions),
    /// Work for an hour with attacks in between, and check that nothing is lost, slow or growing
    Soak(soak::SoakOptions),
    /// Measure the memory that many uploads at one time take
    Uploads(guests::uploads::UploadsOptions),
    /// Measure how long the free times of a month take, with a short and a long history, and how long
    /// large and hostile calendars take
    Bookings(guests::bookings::BookingsOptions),
    /// Measure acts on 1,000 conversations at once, what others wait meanwhile, and rules
    Triage(triage::TriageOptions),
    /// Measure 2,000 workspaces of mixed size on one server, and whether a neighbour that imports,
    /// is flooded or has a backlog delays the mail of the others
    Hosted(hosted::HostedOptions),
    /// Score SPF and ARC on suites of cases: folders with spf/*.yml, arc/*.txt or tests/*.yml
    Authentication {
        /// The folders of the suites
        #[arg(required = true, value_name = "FOLDER")]
        folders: Vec<PathBuf>,
    },
    /// Serve one answer to everything
    #[command(hide = true)]
    Constant {
        #[arg(long)]
        answer: PathBuf,
        #[arg(long)]
        listen: SocketAddr,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Some(Command::Seed { database, messages, seed }) => fill(&database, messages, seed),
        Some(Command::Constant { answer, listen }) => constant::serve(&answer, listen),
        Some(Command::Authentication { folders }) => authentication::score(&folders),
        Some(Command::Deliveries(options)) => deliveries::run(options).map(drop),
        Some(Command::Live(options)) => live::run(options).map(drop),
        Some(Command::Protected(options)) => guests::protected::run(&options).map(drop),
        Some(Command::Receive(options)) => receive::run(&options).map(drop),
        Some(Command::Sorting(options)) => receive::sorting::run(&options).map(drop),
        Some(Command::Statistics(options)) => receive::statistics::run(&options).map(drop),
        Some(Command::Grown(options)) => grown::run(&options).map(drop),
        Some(Command::Compare(options)) => compare::run(&options),
        Some(Command::Crash(options)) => crash::run(options),
        Some(Command::Agents(options)) => agents::run(&options),
        Some(Command::Attack(options)) => attack::run(&options),
        Some(Command::Soak(options)) => soak::run(&options),
        Some(Command::Uploads(options)) => guests::uploads::run(options),
        Some(Command::Bookings(options)) => guests::bookings::run(&options).map(drop),
        Some(Command::Triage(options)) => triage::run(&options).map(drop),
        Some(Command::Hosted(options)) => hosted::run(&options).map(drop),
        None => run::run(cli.run).map(drop),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("mailroom-bench: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn fill(database: &str, messages: usize, seed: u64) -> Result<(), String> {
    let seeded = fill::seed::seed(database, messages, seed)?;
    let told = serde_json::json!({
        "messages": seeded.messages,
        "conversations": seeded.conversations,
        "seconds": seeded.seconds,
        "bytes": seeded.bytes,
        "key": seeded.key,
    });
    println!("{told}");
    Ok(())
}
