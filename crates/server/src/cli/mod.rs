//! The command line.

mod advice;
mod answers;
mod backups;
mod booking;
mod calendar_trial;
mod certificate;
mod command;
mod domain;
mod imap;
mod import;
mod inspect;
mod listen;
mod people;
mod queue;
mod quiet;
mod read_document;
mod reference;
mod run;
mod self_check;
mod services;
mod small_file;
mod topic;
mod webhooks;
mod workspaces;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use document_reader::ParserTask;
use node::data_lock::settle_database;
use node::log_fields::SpanFields;
use node::log_filter;
use serde_json::json;

use crate::demo::public::DemoLimits;
use crate::settings::{Flags, Settings, unknown_variables};
use command::{CommandFailure, CommandResult, say_line};

/// A shared customer-email inbox in which people and software agents work together.
#[derive(Parser)]
#[command(name = "mailroom", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    flags: Flags,
}

const EXAMPLES: &str = "Try it:
  mailroom demo

Start for real:
  mailroom setup --workspace Acme --owner-email you@acme.example --owner-name You \\
                 --inbox support@acme.example --inbox-name Support
  mailroom key create --name Robo --scopes read,write,draft --by you@acme.example
  mailroom serve";

/// The exit status for commands and settings that cannot be used.
const USAGE_STATUS: u8 = 2;
/// The exit status of `backup`, `backup verify` and `restore` where something is damaged and named.
const DAMAGED_STATUS: u8 = 3;

#[derive(Subcommand)]
enum Command {
    /// Start with a sample workspace, and print a sign-in link, keys and an example call
    Demo(DemoArgs),
    /// Serve the API and the web app, and take mail in
    Serve,
    /// Make a workspace with its owner and first inbox
    Setup(people::admin::Setup),
    /// The people of a workspace
    #[command(subcommand)]
    User(people::user::User),
    /// The inboxes of a workspace
    #[command(subcommand, visible_alias = "inbox")]
    Mailbox(people::admin::MailboxCommand),
    /// The domains that mail is sent from: DNS records and signing keys
    #[command(subcommand)]
    Domain(domain::Domain),
    /// API keys; each acts as an agent of its own
    #[command(subcommand)]
    Key(people::key::Key),
    /// Agents: what they called, undoing what they did, and pausing them
    #[command(subcommand)]
    Agent(people::agent::AgentCommand),
    /// Test cases for agents: what must and must not happen, played in the sandbox
    #[command(subcommand)]
    Evals(people::evals::EvalsCommand),
    /// Addresses that are told of events
    #[command(subcommand)]
    Webhook(webhooks::Webhook),
    /// Services that your app sends its own mail through
    #[command(subcommand)]
    Service(services::Service),
    /// What the team knows: answers that replies are drafted from
    #[command(subcommand)]
    Answer(answers::AnswerCommand),
    /// Print events as they happen, and forward them, signed, to a local address
    Listen(listen::Listen),
    /// Show what is made of mails: sender, kind, trimmed text, attachments, risk
    Inspect(inspect::Inspect),
    /// Read documents as the library does: kind, vendor, amount, dates, number
    ReadDocument(read_document::ReadDocument),
    /// Send and fetch nothing for a while, as after a restore
    #[command(subcommand)]
    Quiet(quiet::Quiet),
    /// What waits to leave, is held or failed, and why
    #[command(subcommand)]
    Queue(queue::QueueCommand),
    /// Bring the database up to date and stop
    Migrate(Json),
    /// Write a consistent copy of everything to a folder or a bucket, also while the server runs
    Backup(backups::backup::Backup),
    /// Put a backup back into an empty installation, which then starts quiet
    Restore(backups::backup::Restore),
    /// Copy a whole installation into another database, from SQLite to PostgreSQL or back
    Copy(workspaces::copy::Copy),
    /// Read everything and report what does not fit together; without --sweep it changes nothing
    Check(backups::backup::Check),
    /// Take mail over from mbox files, Maildirs, folders of .eml files, IMAP accounts and help desks
    Import(Box<import::Import>),
    /// Write everything about one person, or a whole workspace, as files
    Export(people::person::Export),
    /// Remove one person: their conversations, what they wrote elsewhere, and their address
    Forget(people::person::Forget),
    /// Look for faults of the set-up: folders, keys, database, certificate, addresses
    SelfCheck(self_check::SelfCheck),
    /// Write the manual as a static site, which needs no server
    Docs(reference::WriteDocs),
    /// Print the completions of a shell
    #[command(hide = true)]
    Completions(reference::Completions),
    /// Print the manual page
    #[command(hide = true)]
    Man,
    /// The certificate that the server orders from an ACME server
    #[command(subcommand)]
    Certificate(certificate::CertificateCommand),
    /// Rebuild the search index
    Reindex(backups::backup::Reindex),
    /// Teams: named sets of people that an inbox can be given to
    #[command(subcommand)]
    Team(people::team::TeamCommand),
    /// Contact forms: pages on which anybody writes to an inbox
    #[command(subcommand)]
    Form(people::contact_form::ContactFormCommand),
    /// Topics that mail is sorted by
    #[command(subcommand)]
    Topic(topic::TopicCommand),
    /// Fields of contacts and conversations
    #[command(subcommand)]
    Field(workspaces::field::FieldCommand),
    /// Try the sorting helper on texts of your own
    #[command(subcommand)]
    Sorter(topic::SorterCommand),
    /// Bookings: hours, types, calendars
    #[command(subcommand)]
    Booking(booking::BookingCommand),
    /// Try hours and busy times as arithmetic
    #[command(subcommand)]
    Slots(booking::SlotsCommand),
    /// How well the helpers do
    #[command(subcommand)]
    Helpers(topic::HelperCommand),
    /// The workspace itself
    #[command(subcommand)]
    Workspace(people::admin::Workspace),
}

#[derive(Args, Clone, Copy, Debug)]
struct DemoArgs {
    /// For strangers: each visitor gets a workspace of their own for an hour, and nothing leaves it
    #[arg(long)]
    public: bool,
    #[command(flatten)]
    limits: DemoLimits,
    #[command(flatten)]
    output: Json,
}

/// Every administrative command can answer with exactly one JSON object.
#[derive(Args, Clone, Copy, Debug)]
struct Json {
    /// Print exactly one JSON object
    #[arg(long)]
    json: bool,
}

pub fn main() -> ExitCode {
    // Before anything is opened that a stranger's file might reach.
    if let Some(task) = ParserTask::of_this_process() {
        return task.run();
    }
    let json = wants_json();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse_usage(&error, json),
    };
    let unknown = unknown_variables(std::env::vars_os());
    let settings = match Settings::load(&cli.flags) {
        Ok(settings) if unknown.is_empty() => settings,
        Ok(_) => return refuse_settings(&unknown, json),
        Err(mistakes) => return refuse_settings(&[unknown, mistakes].concat(), json),
    };
    start_log(matches!(cli.command, Command::Serve));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string(), json),
    };
    let outcome = runtime.block_on(run(cli.command, &settings));
    // What still runs on another thread is not waited for long.
    runtime.shutdown_timeout(LAST_GRACE);
    settle_database(&settings.database_url, &settings.data);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandFailure::Untold(sentence)) => fail(&advice::with_advice(&sentence), json),
        Err(CommandFailure::Told) => ExitCode::FAILURE,
        Err(CommandFailure::Damaged) => ExitCode::from(DAMAGED_STATUS),
    }
}

/// Work on other threads has this long to end after everything else has.
const LAST_GRACE: Duration = Duration::from_millis(500);

async fn run(command: Command, settings: &Settings) -> CommandResult {
    match command {
        Command::Demo(demo) if demo.public => {
            Ok(run::public_demo::run(settings, demo.limits, demo.output.json).await?)
        }
        Command::Demo(demo) => Ok(run::demo(settings, demo.output.json).await?),
        Command::Serve => Ok(run::serve(settings).await?),
        Command::Setup(setup) => setup.run(settings).await,
        Command::User(user) => user.run(settings).await,
        Command::Mailbox(mailbox) => mailbox.run(settings).await,
        Command::Domain(domain) => domain.run(settings).await,
        Command::Key(key) => key.run(settings).await,
        Command::Agent(agent) => agent.run(settings).await,
        Command::Evals(evals) => evals.run(settings).await,
        Command::Webhook(webhook) => webhook.run(settings).await,
        Command::Service(service) => service.run(settings).await,
        Command::Answer(answer) => answer.run(settings).await,
        Command::Listen(listen) => Ok(listen.run(settings).await?),
        Command::Inspect(inspect) => Ok(inspect.run()?),
        Command::ReadDocument(read) => Ok(read.run().await?),
        Command::Quiet(quiet) => quiet.run(settings).await,
        Command::Queue(queue) => queue.run(settings).await,
        Command::Backup(backup) => backup.run(settings).await,
        Command::Restore(restore) => restore.run(settings).await,
        Command::Copy(copy) => copy.run(settings).await,
        Command::Check(check) => check.run(settings).await,
        Command::Import(import) => import.run(settings).await,
        Command::Export(export) => export.run(settings).await,
        Command::Forget(forget) => forget.run(settings).await,
        Command::SelfCheck(check) => check.run(settings).await,
        Command::Docs(docs) => docs.run(),
        Command::Completions(completions) => {
            completions.run();
            Ok(())
        }
        Command::Man => {
            reference::print_manual();
            Ok(())
        }
        Command::Certificate(certificate) => certificate.run(settings).await,
        Command::Reindex(reindex) => reindex.run(settings).await,
        Command::Migrate(output) => Ok(run::migrate(settings, output.json)?),
        Command::Team(team) => team.run(settings).await,
        Command::Form(form) => form.run(settings).await,
        Command::Topic(topic) => topic.run(settings).await,
        Command::Field(field) => field.run(settings).await,
        Command::Sorter(sorter) => Ok(sorter.run()?),
        Command::Booking(booking) => booking.run(settings).await,
        Command::Slots(slots) => Ok(slots.run()?),
        Command::Helpers(helpers) => helpers.run(settings).await,
        Command::Workspace(workspace) => workspace.run(settings).await,
    }
}

/// True when the command was asked to answer in JSON. Seen before anything is parsed, so that every
/// mistake can be told in the same way.
fn wants_json() -> bool {
    std::env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// A command that was typed wrong; help and version are no mistakes.
fn refuse_usage(error: &clap::Error, json: bool) -> ExitCode {
    let help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if help || !json {
        // Exits with the status that clap has for it.
        error.exit();
    }
    let said = error.render().to_string();
    let first = said.split("\n\n").next().unwrap_or_default();
    let sentence: Vec<&str> = first.trim_start_matches("error: ").split_whitespace().collect();
    print_error(&sentence.join(" "));
    ExitCode::from(USAGE_STATUS)
}

fn refuse_settings(mistakes: &[String], json: bool) -> ExitCode {
    if json {
        print_error(&format!("the settings cannot be used: {}", mistakes.join("; ")));
    } else {
        eprintln!("mailroom: the settings cannot be used:");
        mistakes.iter().for_each(|mistake| eprintln!("  {mistake}"));
    }
    ExitCode::from(USAGE_STATUS)
}

fn fail(sentence: &str, json: bool) -> ExitCode {
    if json {
        print_error(sentence)
    } else {
        eprintln!("mailroom: {sentence}")
    }
    ExitCode::FAILURE
}

/// The one JSON object of a command that could not be done.
fn print_error(sentence: &str) {
    say_line!("{}", json!({ "error": sentence }));
}

/// Logs go to standard error: requests and warnings when serving, warnings alone otherwise.
/// `RUST_LOG` says otherwise, within `log_filter`; `MAILROOM_LOG=json` writes one object a line.
fn start_log(serving: bool) {
    use tracing_subscriber::Layer;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    let filter = log_filter::of_process(if serving { "info" } else { "warn" });
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let lines = match std::env::var("MAILROOM_LOG").as_deref() {
        Ok("json") => lines.json().with_span_list(false).boxed(),
        _ => lines.fmt_fields(SpanFields).boxed(),
    };
    let started = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
    if let Err(error) = started {
        eprintln!("mailroom: the log could not be started: {error}");
    }
    std::panic::set_hook(Box::new(log_panic));
}

/// Tells where something that cannot happen did. What it says is written down only where it stands
/// in the code as it is: what was put together may quote a mail.
fn log_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let said = panic.payload().downcast_ref::<&'static str>().copied();
    let place = panic.location().map(ToString::to_string);
    tracing::error!(place, said, "a thread panicked");
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::panic::{catch_unwind, set_hook, take_hook};
    use std::sync::Mutex;

    use super::log_panic;

    #[test]
    fn a_panic_is_told_without_what_it_quotes() {
        let (mut log, writer) = std::io::pipe().expect("a pipe");
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(Mutex::new(writer)).finish();
        let before = take_hook();
        set_hook(Box::new(log_panic));
        tracing::subscriber::with_default(subscriber, || {
            let mail = String::from("my PIN is 1234");
            let _ = catch_unwind(|| panic!("not a boundary in `{mail}`"));
            let _ = catch_unwind(|| panic!("never empty"));
        });
        set_hook(before);
        let mut told = String::new();
        log.read_to_string(&mut told).expect("text");
        assert!(!told.contains("1234"), "{told}");
        assert!(told.contains("never empty") && told.contains("cli/mod.rs:"), "{told}");
    }
}
