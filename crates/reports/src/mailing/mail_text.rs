//! A mailed report as plain text.

use super::mail_parts::MailParts;

pub(super) fn text(parts: &MailParts) -> String {
    let mut text = format!("{}\n\n{}\n\n", parts.title, parts.about);
    for figure in &parts.figures {
        let further = [figure.change.as_str(), figure.before.as_str()];
        let further: Vec<&str> = further.into_iter().filter(|words| !words.is_empty()).collect();
        text.push_str(&format!("{}: {}", figure.label, figure.value));
        if !further.is_empty() {
            text.push_str(&format!(" ({})", further.join(", ")));
        }
        text.push('\n');
    }
    for plot in &parts.plots {
        text.push_str(&format!("\n{}\n", plot.title));
        if !plot.about.is_empty() {
            text.push_str(&format!("{}\n", plot.about));
        }
        for row in &plot.rows {
            text.push_str(&format!("- {}: {}\n", row.label, row.value));
        }
    }
    text.push_str(&format!("\n{}: {}\n\n{}\n", parts.link, parts.url, parts.footer));
    text
}
