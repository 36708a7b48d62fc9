//! Hours of ordinary work with attacks in between: memory stays flat, nothing that was acknowledged
//! is lost, and nobody who is not attacking waits long.

mod hostile;
mod visitors;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use db::Tx;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::attack::{Attack, AttackTarget};
use crate::crash::{CrashTrial, Pause, reason};
use crate::database::{DatabaseKind, Databases};
use crate::fill::workspace;
use crate::receive::Customers;
use crate::report::{Goal, Wanted, print_goals};
use crate::server::{binary, free_address};

use visitors::Visitors;

/// The longest pause of a client of the API between two operations.
const PAUSE: Duration = Duration::from_millis(2_000);
/// How often memory is read and the folder of sent mail is looked at.
const SAMPLE_EVERY: Duration = Duration::from_secs(5);
/// The pause between two attacks.
const BETWEEN_ATTACKS: Duration = Duration::from_secs(20);
/// Silent connections of one attack: enough to fill what one address may have.
const SILENT_CONNECTIONS: usize = 2_000;
/// Ordinary requests may not take longer, in seconds.
const MOST_SECONDS: f64 = 2.0;
/// The second half's highest memory over the first's.
const MOST_GROWTH: f64 = 1.25;
/// Acknowledged mails that are named when they are missing.
const NAMED: usize = 10;

#[derive(Args, Clone, Debug)]
pub struct SoakOptions {
    #[command(flatten)]
    databases: Databases,
    /// How long each database is worked on
    #[arg(long, default_value_t = 60.0, value_name = "MINUTES")]
    minutes: f64,
    /// Only the ordinary work
    #[arg(long)]
    no_attacks: bool,
    /// What the operations are drawn from
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// The server's binary [default: mailroom beside this one]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
}

/// Works on each database; an error when a bound does not hold.
pub fn run(options: &SoakOptions) -> Result<(), String> {
    let binary = binary(options.server.as_deref())?;
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let mut goals = Vec::new();
    for kind in options.databases.kinds() {
        let mut trial = CrashTrial::new(&options.databases, kind, &binary, options.seed, PAUSE)?;
        goals.extend(runtime.block_on(soak(options, kind, &mut trial))?);
    }
    goals.iter().for_each(Goal::print_json);
    match print_goals(&goals) {
        true => Ok(()),
        false => Err("a bound does not hold".into()),
    }
}

async fn soak(
    options: &SoakOptions,
    kind: DatabaseKind,
    trial: &mut CrashTrial,
) -> Result<Vec<Goal>, String> {
    let started = Instant::now();
    let customers = Customers::new(options.seed)?;
    let names = customers.names()?;
    let smtp = free_address()?;
    let server = trial.start_with(&[
        ("MAILROOM_SMTP_LISTEN", smtp.to_string()),
        ("MAILROOM_DNS", names.address.to_string()),
    ])?;
    let target = AttackTarget::of(server, smtp, &trial.workspace)?;
    let day = Day::work(options, trial, &target, customers).await?;
    let mut lost = lost_mail(trial, "header_id", &day.acknowledged_mail).await?;
    lost.extend(lost_mail(trial, "subject", &day.acknowledged_hostile).await?);
    lost.iter().take(NAMED).for_each(|id| eprintln!("  acknowledged and missing: mail {id}"));
    drop(target);
    trial.crash_run().await?;
    let server = trial.start_with(&[])?;
    trial.come_to_rest().await?;
    let findings = trial.check(&server).await?;
    let mut goals = trial.report(&findings, day.acknowledged, 0, started.elapsed());
    goals.extend(day.goals(kind, lost.len()));
    Ok(goals)
}

/// What came of the ordinary work.
struct Day {
    acknowledged: u64,
    acknowledged_mail: HashSet<String>,
    acknowledged_hostile: HashSet<String>,
    slowest: Duration,
    memory_mb: Vec<f64>,
    attacks: u64,
}

impl Day {
    async fn work(
        options: &SoakOptions,
        trial: &mut CrashTrial,
        target: &AttackTarget,
        customers: Customers,
    ) -> Result<Day, String> {
        let until = Instant::now() + Duration::from_secs_f64(options.minutes * 60.0);
        let stop = CancellationToken::new();
        let acknowledged = Arc::new(AtomicU64::new(0));
        let mut working = trial.work(target.http, &acknowledged, &stop);
        let visitors = Visitors::start(target, customers, &stop)?;
        let attacking = attack_until(options, target, until);
        tokio::pin!(attacking);
        let (mut memory_mb, mut attacks) = (Vec::new(), None);
        while Instant::now() < until {
            tokio::select! {
                done = &mut attacking, if attacks.is_none() => attacks = Some(done?),
                () = sleep(SAMPLE_EVERY) => {
                    memory_mb.push(target.server.memory_mb()?);
                    trial.outbox.look()?;
                    if let Some(stopped) = working.try_join_next() {
                        return Err(reason(stopped.map_err(|error| error.to_string())?.1));
                    }
                }
            }
        }
        let attacks = match attacks {
            Some(attacks) => attacks,
            None => attacking.await?,
        };
        stop.cancel();
        while let Some(stopped) = working.join_next().await {
            let (client, pause) = stopped.map_err(|error| error.to_string())?;
            match pause {
                Pause::Asked => trial.hands.push(client),
                other => return Err(reason(other)),
            }
        }
        let visited = visitors.finish().await?;
        let hands = trial.hands.iter().map(|client| client.slowest).max().unwrap_or_default();
        println!(
            "{}",
            json!({
                "figure": "soak", "acknowledged": acknowledged.load(Ordering::Relaxed),
                "mails": visited.acknowledged_mail.len(),
                "hostile_mails": visited.acknowledged_hostile.len(), "pages": visited.pages,
                "slowest_operation_s": hands.as_secs_f64(),
                "slowest_page_s": visited.slowest_page.as_secs_f64(),
                "slowest_mail_s": visited.slowest_mail.as_secs_f64(),
                "attacks": attacks, "memory_mb": memory_mb,
            })
        );
        Ok(Day {
            acknowledged: acknowledged.load(Ordering::Relaxed),
            slowest: hands.max(visited.slowest_page).max(visited.slowest_mail),
            acknowledged_mail: visited.acknowledged_mail,
            acknowledged_hostile: visited.acknowledged_hostile,
            memory_mb,
            attacks,
        })
    }

    fn goals(&self, kind: DatabaseKind, lost_mails: usize) -> Vec<Goal> {
        let half = self.memory_mb.len() / 2;
        let most = |samples: &[f64]| samples.iter().copied().fold(0.0, f64::max);
        let growth = most(&self.memory_mb[half..]) / most(&self.memory_mb[..half]).max(1.0);
        let goal = |what: &str, value, wanted| Goal {
            what: format!("{what} ({})", kind.name()),
            value,
            wanted,
        };
        vec![
            goal("acknowledged mails that are missing", lost_mails as f64, Wanted::AtMost(0.0)),
            goal(
                "seconds of the slowest request that is no attack",
                self.slowest.as_secs_f64(),
                Wanted::AtMost(MOST_SECONDS),
            ),
            goal(
                "memory, the second half's most over the first's",
                growth,
                Wanted::AtMost(MOST_GROWTH),
            ),
            goal("attacks", self.attacks as f64, Wanted::AtLeast(0.0)),
        ]
    }
}

/// One attack after the other, until the time is over; answers how many.
async fn attack_until(
    options: &SoakOptions,
    target: &AttackTarget,
    until: Instant,
) -> Result<u64, String> {
    let mut attacks = 0;
    while !options.no_attacks && Instant::now() < until {
        for attack in Attack::ALL {
            sleep(BETWEEN_ATTACKS).await;
            if Instant::now() >= until {
                break;
            }
            attack
                .run(target, SILENT_CONNECTIONS, Duration::from_secs_f64(MOST_SECONDS))
                .await
                .map_err(|error| format!("{}: {error}", attack.name()))?;
            attacks += 1;
        }
    }
    Ok(attacks)
}

/// Acknowledged mails that no message has the Message-ID or the subject of.
async fn lost_mail(
    trial: &CrashTrial,
    column: &'static str,
    acknowledged: &HashSet<String>,
) -> Result<Vec<String>, String> {
    let store = workspace::open(&trial.place.url)?;
    let ids = store.read(move |tx: &mut Tx<'_>| {
        let sql = format!("SELECT {column} FROM messages WHERE direction = 'inbound'");
        tx.all::<(String,)>(&sql, &[])
    });
    let ids: HashSet<String> = ids
        .await
        .map_err(|error| error.to_string())?
        .into_iter()
        .map(|(id,)| id.trim_matches(['<', '>']).to_owned())
        .collect();
    Ok(acknowledged.difference(&ids).cloned().collect())
}
