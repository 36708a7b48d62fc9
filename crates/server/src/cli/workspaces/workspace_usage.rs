//! `workspace usage`: how much each workspace holds. It counts every row, at the command line alone.

use base::app::App;
use clap::Args;
use maintenance::workspace_usage::{WorkspaceUsage, workspace_usage};
use serde_json::json;

use crate::cli::Json;
use crate::cli::command::{CommandResult, print, sentence};

#[derive(Args)]
pub struct ShowUsage {
    /// The slug of one workspace [default: all of them]
    #[arg(value_name = "NAME", conflicts_with = "workspace")]
    name: Option<String>,
    /// The same
    #[arg(long, value_name = "SLUG")]
    workspace: Option<String>,
    #[command(flatten)]
    output: Json,
}

impl ShowUsage {
    pub async fn run(self, app: &App) -> CommandResult {
        let mut usage = app.store.read(workspace_usage).await.map_err(sentence)?;
        if let Some(slug) = self.name.as_ref().or(self.workspace.as_ref()) {
            let slugs: Vec<String> = usage.iter().map(|one| one.slug.clone()).collect();
            usage.retain(|one| one.slug == *slug);
            if usage.is_empty() {
                let slugs = slugs.join(", ");
                return Err(format!("There is no workspace {slug}; there are {slugs}.").into());
            }
        }
        let said: Vec<String> = usage.iter().map(line).collect();
        print(self.output, &json!({ "workspaces": usage }), &said.join("\n"));
        Ok(())
    }
}

fn line(usage: &WorkspaceUsage) -> String {
    format!(
        "{}  {}, {}, {} of {}; {}{}",
        usage.slug,
        count_noun(usage.conversations, "conversation"),
        count_noun(usage.messages, "message"),
        count_noun(usage.blobs, "blob"),
        readable_bytes(usage.blob_bytes),
        count_noun(usage.rows, "row"),
        usage.rests.map_or(String::new(), |rests| format!("; {rests}"))
    )
}

fn count_noun(count: i64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Bytes as people read them.
fn readable_bytes(bytes: i64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return format!("{bytes} bytes");
    }
    let (mut amount, mut unit) = (bytes as f64 / 1_000.0, 0);
    while amount >= 999.95 && unit + 1 < UNITS.len() {
        amount /= 1_000.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::readable_bytes;

    #[test]
    fn bytes_are_shown_in_the_unit_that_fits() {
        assert_eq!(readable_bytes(0), "0 bytes");
        assert_eq!(readable_bytes(999), "999 bytes");
        assert_eq!(readable_bytes(1_000), "1.0 kB");
        assert_eq!(readable_bytes(999_999), "1.0 MB");
        assert_eq!(readable_bytes(2_500_000_000), "2.5 GB");
    }
}
