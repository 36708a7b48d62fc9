//! What Mailroom makes of a mail, without touching any data.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use classifier::UrgencyVerdict;
use mail::Inspection;
use serde_json::Value;

use super::command::say_line;

#[derive(Args)]
pub struct Inspect {
    /// Mails as they came, with their headers
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The files are bare plain texts, which are only trimmed
    #[arg(long)]
    text: bool,
    /// Print one JSON object for each file
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub fn run(self) -> Result<(), String> {
        for path in &self.files {
            let file = path.display().to_string();
            let bytes = fs::read(path).map_err(|error| format!("{file}: {error}"))?;
            let inspection = if self.text {
                mail::inspect_text(&file, &bytes)
            } else {
                mail::inspect(&file, &bytes)
            };
            let sorting = Sorting::of(&inspection);
            if self.json {
                say_line!("{}", json(&inspection, &sorting));
            } else {
                say_line!("{}", report_text(&inspection, &sorting));
            }
        }
        Ok(())
    }
}

/// What the sorting helper makes of a mail by its rules alone.
struct Sorting {
    language: Option<&'static str>,
    verdict: UrgencyVerdict,
}

impl Sorting {
    fn of(mail: &Inspection) -> Sorting {
        let language = classifier::mail_language(&mail.subject, &mail.text);
        Sorting {
            language: language.map(|language| language.as_str()),
            verdict: classifier::urgency(&mail.subject, &mail.text),
        }
    }
}

fn json(mail: &Inspection, sorting: &Sorting) -> Value {
    let mut line = serde_json::json!(mail);
    line["language"] = sorting.language.into();
    line["urgency"] = sorting.verdict.level.as_str().into();
    line["urgencyReasons"] = sorting.verdict.reasons.clone().into();
    line
}

fn report_text(mail: &Inspection, sorting: &Sorting) -> String {
    let from = mail.from.as_ref().map_or("nobody", |person| person.email.as_str());
    let risk = mail.risk.as_deref().unwrap_or("none");
    let mut lines = vec![
        format!("{} ({:?} from {from})", mail.file, mail.kind),
        format!("  subject   {}", mail.subject),
        format!("  risk      {risk}, score {}", mail.score),
    ];
    lines.extend(mail.risk_reasons.iter().map(|reason| format!("            {reason}")));
    lines.push(format!("  language  {}", sorting.language.unwrap_or("unknown")));
    lines.push(format!("  urgency   {}", sorting.verdict.level.as_str()));
    let reasons = sorting.verdict.reasons.iter();
    lines.extend(reasons.map(|reason| format!("            {reason}")));
    lines.extend(mail.bounces.iter().map(|bounce| format!("  bounced   {}", bounce.recipient)));
    let files = mail.attachments.iter();
    lines
        .extend(files.map(|file| format!("  file      {} ({})", file.filename, file.content_type)));
    lines.push(String::new());
    lines.extend(mail.text.lines().map(|line| format!("  {line}")));
    lines.join("\n")
}
