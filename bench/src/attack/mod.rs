//! Attacks on a running server: what they cost it, and whether everybody else is still served.

mod bodies;
pub mod help;
mod html;
mod nesting;
mod probe;
mod resolver;
mod silent;
mod stopping;
mod target;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::time::sleep;

use crate::database::{DatabaseKind, Databases};
use crate::report::{Goal, Wanted, print_goals};
use crate::server::binary;

pub use nesting::nested_bodies;
pub use target::AttackTarget;

use probe::Probe;

/// How often the server's memory is read while it is attacked.
const MEMORY_SAMPLE_EVERY: Duration = Duration::from_millis(20);

#[derive(Args, Clone, Debug)]
pub struct AttackOptions {
    #[command(flatten)]
    databases: Databases,
    /// Only these attacks
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<Attack>,
    /// Silent connections that are opened, as far as this process may
    #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
    connections: usize,
    /// Seconds within which everybody else, and the attacker, must be answered
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    patience: f64,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Attack {
    /// Deeply nested and otherwise expensive HTML, opened as "show original"
    Html,
    /// One picture that a mail shows hundreds of times
    Pictures,
    /// Styles, mails and multiparts within one another, and floods of parts, fields and classes
    Nesting,
    /// Connections that say nothing, from one address
    Silent,
    /// The same, from many addresses
    SilentMany,
    /// Large bodies with a wrong key
    Bodies,
    /// Guessed addresses and words of answers that are not public, and a flood of searches
    Help,
}

impl Attack {
    pub const ALL: [Attack; 7] = [
        Attack::Html,
        Attack::Pictures,
        Attack::Nesting,
        Attack::Silent,
        Attack::SilentMany,
        Attack::Bodies,
        Attack::Help,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Attack::Html => "hostile HTML",
            Attack::Pictures => "inline pictures",
            Attack::Nesting => "nested mail",
            Attack::Silent => "silent connections",
            Attack::SilentMany => "silent connections from many addresses",
            Attack::Bodies => "bodies with a wrong key",
            Attack::Help => "help pages",
        }
    }

    /// How far the server's memory may rise meanwhile, in MB.
    fn memory_mb(self) -> f64 {
        match self {
            Attack::Html | Attack::Pictures | Attack::Nesting => 300.0,
            Attack::Silent | Attack::SilentMany => 100.0,
            Attack::Bodies | Attack::Help => 60.0,
        }
    }

    /// Attacks; answers the longest wait of the attacker for an answer.
    pub async fn run(
        self,
        target: &AttackTarget,
        connections: usize,
        patience: Duration,
    ) -> Result<Duration, String> {
        match self {
            Attack::Html => html::open_hostile_mail(target).await,
            Attack::Pictures => html::open_repeated_pictures(target).await,
            Attack::Nesting => nesting::open_nested_mail(target).await,
            Attack::Silent => silent::connect(target, connections, 1, patience).await,
            Attack::SilentMany => {
                silent::connect(target, connections, silent::ADDRESSES, patience).await
            }
            Attack::Bodies => bodies::send(target).await,
            Attack::Help => help::guess_and_flood(target).await,
        }
    }
}

/// Attacks a server on each database; an error when a bound does not hold.
pub fn run(options: &AttackOptions) -> Result<(), String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let mut goals = Vec::new();
    let binary = binary(options.server.as_deref())?;
    for kind in options.databases.kinds() {
        let mut target = AttackTarget::start(&binary, kind, options.databases.postgres())?;
        for attack in Attack::ALL {
            if options.only.is_empty() || options.only.contains(&attack) {
                goals.extend(runtime.block_on(measure(attack, &target, kind, options))?);
            }
        }
        if options.only.is_empty() {
            goals.push(stopping::measure(&mut target, kind, options.patience, &runtime)?);
            goals.push(resolver::measure(&binary, kind, &options.databases, options.patience)?);
        }
    }
    goals.iter().for_each(Goal::print_json);
    match print_goals(&goals) {
        true => Ok(()),
        false => Err("a bound does not hold".into()),
    }
}

async fn measure(
    attack: Attack,
    target: &AttackTarget,
    kind: DatabaseKind,
    options: &AttackOptions,
) -> Result<Vec<Goal>, String> {
    let before = target.server.memory_mb()?;
    let patience = Duration::from_secs_f64(options.patience);
    let probe = Probe::start(target);
    let begun = Instant::now();
    let mut peak = before;
    let attacking = attack.run(target, options.connections, patience);
    tokio::pin!(attacking);
    let owed = loop {
        tokio::select! {
            owed = &mut attacking => break owed.map_err(|error| format!("{}: {error}", attack.name()))?,
            () = sleep(MEMORY_SAMPLE_EVERY) => peak = peak.max(target.server.memory_mb()?),
        }
    };
    let waits = probe.finish().await?;
    let line = json!({
        "figure": "attack", "db": kind.name(), "attack": attack.name(),
        "seconds": begun.elapsed().as_secs_f64(), "attacker_wait_s": owed.as_secs_f64(),
        "api_wait_s": waits.api.as_secs_f64(), "page_wait_s": waits.page.as_secs_f64(),
        "smtp_wait_s": waits.smtp.as_secs_f64(), "memory_before_mb": before, "memory_peak_mb": peak,
    });
    println!("{line}");
    let goal = |what: &str, value: f64, most: f64| Goal {
        what: format!("{}: {what} ({})", attack.name(), kind.name()),
        value,
        wanted: Wanted::AtMost(most),
    };
    Ok(vec![
        goal("seconds until the attacker was answered", owed.as_secs_f64(), options.patience),
        goal("seconds until others were answered", waits.longest().as_secs_f64(), options.patience),
        goal("MB of memory more", peak - before, attack.memory_mb()),
    ])
}
