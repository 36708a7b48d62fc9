//! A rule: tried on the last conversations, and at work on 1,000 that were tagged at once.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base::limits::TRIAGED;
use serde_json::json;

use super::others::quantile;
use super::session::{AppSession, between};
use super::{TriageBench, act_on_all, offered_undo, undo_all};
use crate::database;
use crate::report::round;

/// The rule must have looked at everything by then.
const PATIENCE: Duration = Duration::from_secs(300);
/// The wait between two looks at the queue.
const STEP: Duration = Duration::from_millis(20);
const PAGE: &str = "/settings/rules";
/// What the page says of a trial on as many conversations as there can be.
const TRIED: &str = "Tried on the last 100 conversations";

impl TriageBench<'_> {
    pub(super) fn try_and_run_rule(&mut self) -> Result<(), String> {
        let rule = self.runtime.block_on(add_rule(&mut self.session))?;
        self.try_rule(&rule)?;
        self.run_rule(&rule)?;
        let delete = format!("{PAGE}/{rule}/delete");
        self.runtime.block_on(self.session.post(&delete, "", "rule-deleted")).map(drop)
    }

    fn try_rule(&mut self, rule: &str) -> Result<(), String> {
        let path = format!("{PAGE}/{rule}?try=1");
        let mut times = Vec::new();
        for _ in 0..self.options.trials.max(1) {
            let begun = Instant::now();
            let page = self.runtime.block_on(self.session.page(&path))?;
            times.push(begun.elapsed().as_secs_f64());
            if !page.contains(TRIED) {
                return Err("the rule was not tried on 100 conversations".into());
            }
        }
        println!(
            "{}",
            json!({
                "figure": "rule-trial", "db": self.filled.kind.name(),
                "messages": self.filled.seeded.messages, "trials": times.len(),
                "p50_ms": round(quantile(&times, 0.5) * 1_000.0),
                "worst_ms": round(quantile(&times, 1.0) * 1_000.0),
            })
        );
        Ok(())
    }

    /// Tags 1,000 conversations at once, each of which the rule then tags too.
    fn run_rule(&mut self, rule: &str) -> Result<(), String> {
        let now =
            SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
        let (mut acts, mut all) = (Vec::new(), Vec::new());
        for round in 0..self.options.rounds.max(1) {
            // A tag that is there already would be less work, so each round has its own.
            let name = format!("bench-{}-{round}", now.as_secs());
            let by_rule = format!("{name}-rule");
            self.runtime.block_on(switch_on(&mut self.session, rule, &by_rule))?;
            let begun = Instant::now();
            let act = format!("act=tag&tag={name}");
            acts.push(self.runtime.block_on(act_on_all(&mut self.session, &act))?);
            self.wait_for_rules(begun)?;
            all.push(begun.elapsed().as_secs_f64());
            self.check_changed()?;
            self.check_tagged(&by_rule)?;
            let undo = self.runtime.block_on(offered_undo(&mut self.session))?;
            self.runtime.block_on(undo_all(&mut self.session, &undo))?;
        }
        let middle = quantile(&all, 0.5);
        println!(
            "{}",
            json!({
                "figure": "rule-run", "db": self.filled.kind.name(),
                "messages": self.filled.seeded.messages,
                "conversations": TRIAGED, "rounds": all.len(),
                "act_p50_ms": round(quantile(&acts, 0.5) * 1_000.0),
                "all_p50_ms": round(middle * 1_000.0),
                "all_worst_ms": round(quantile(&all, 1.0) * 1_000.0),
                "per_second": round(TRIAGED as f64 / middle),
            })
        );
        Ok(())
    }

    fn wait_for_rules(&self, begun: Instant) -> Result<(), String> {
        let sql = "SELECT CAST(count(*) AS TEXT) FROM rule_jobs";
        loop {
            let left = database::texts(&self.filled.url, sql)?.pop().unwrap_or_default();
            if left == "0" {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("rules have not looked at {left} conversations"));
            }
            thread::sleep(STEP);
        }
    }

    /// An empty queue alone does not say that the rule acted.
    fn check_tagged(&self, name: &str) -> Result<(), String> {
        let sql = format!(
            "SELECT CAST(count(*) AS TEXT) FROM conversation_tags t
             JOIN tags g ON g.ws = t.ws AND g.id = t.tag WHERE g.name = '{name}'"
        );
        let tagged = database::texts(&self.filled.url, &sql)?.pop().unwrap_or_default();
        match tagged == TRIAGED.to_string() {
            true => Ok(()),
            false => Err(format!("the rule tagged {tagged} conversations instead of {TRIAGED}")),
        }
    }
}

/// Adds a rule that every mail of the workspace fits, switched off; answers its id.
async fn add_rule(session: &mut AppSession) -> Result<String, String> {
    let fields = rule_fields("mail-arrives", "bench-trial");
    let location = session.post(PAGE, &fields, "rule-added").await?;
    between(&location, "/settings/rules/", "?").map(str::to_owned)
}

/// Lets the rule act on what somebody tags.
async fn switch_on(session: &mut AppSession, rule: &str, tag: &str) -> Result<(), String> {
    let path = format!("{PAGE}/{rule}");
    session.post(&path, &rule_fields("tagged", tag), "saved").await?;
    session.post(&format!("{path}/switch"), "on=1", "rule-on").await.map(drop)
}

/// The form of a rule: subjects with a word that all have get a tag.
fn rule_fields(event: &str, tag: &str) -> String {
    format!("name=Bench&event={event}&field=subject&how=is&value=order&act=tag&with={tag}")
}
