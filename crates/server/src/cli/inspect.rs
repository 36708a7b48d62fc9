//! What Mailroom makes of a mail, without touching any data.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use mail::Inspection;

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
            if self.json {
                println!("{}", serde_json::json!(inspection))
            } else {
                println!("{}", shown(&inspection))
            }
        }
        Ok(())
    }
}

fn shown(mail: &Inspection) -> String {
    let from = mail.from.as_ref().map_or("nobody", |person| person.email.as_str());
    let risk = mail.risk.as_deref().unwrap_or("none");
    let mut lines = vec![
        format!("{} ({:?} from {from})", mail.file, mail.kind),
        format!("  subject   {}", mail.subject),
        format!("  risk      {risk}, score {}", mail.score),
    ];
    lines.extend(mail.risk_reasons.iter().map(|reason| format!("            {reason}")));
    lines.extend(mail.bounces.iter().map(|bounce| format!("  bounced   {}", bounce.recipient)));
    let files = mail.attachments.iter();
    lines
        .extend(files.map(|file| format!("  file      {} ({})", file.filename, file.content_type)));
    lines.push(String::new());
    lines.extend(mail.text.lines().map(|line| format!("  {line}")));
    lines.join("\n")
}
