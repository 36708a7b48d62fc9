//! A mailed report as HTML that old desktop programs show: tables with cells of fixed width, no pictures, no script,
//! nothing to fetch.

use super::mail_parts::{MailParts, MailPlot};

/// Pixels of the column, of the longest bar and of the mark of a target.
const COLUMN_PX: u32 = 640;
const BAR_PX: u32 = 240;
const TARGET_PX: u32 = 2;
const BAR_HEIGHT_PX: u32 = 12;
const BAR_COLOUR: &str = "#2f6f9f";
/// The part of a bar behind the target, and the mark of the target itself.
const LATE_COLOUR: &str = "#c0562b";
const TARGET_COLOUR: &str = "#8a6100";
const FONT: &str = "font-family:'Segoe UI',Arial,sans-serif;font-size:15px;line-height:1.5";
const TABLE: &str = "<table cellpadding=\"0\" cellspacing=\"0\" border=\"0\"";

pub(super) fn html(parts: &MailParts) -> String {
    let mut html = format!(
        "<!DOCTYPE html><html lang=\"{}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"></head><body style=\"{FONT}\">\
         {TABLE} role=\"presentation\" width=\"{COLUMN_PX}\"><tr><td style=\"{FONT}\">",
        parts.language
    );
    element(&mut html, "h1", "font-size:22px;margin:0 0 8px", &parts.title);
    element(&mut html, "p", "margin:0 0 16px", &parts.about);
    write_figures(&mut html, parts);
    for plot in &parts.plots {
        write_plot(&mut html, plot);
    }
    html.push_str("<p style=\"margin:24px 0 8px\"><a href=\"");
    escape(&mut html, &parts.url);
    html.push_str("\">");
    escape(&mut html, parts.link);
    html.push_str("</a></p>");
    element(&mut html, "p", "margin:0;font-size:13px", parts.footer);
    html.push_str("</td></tr></table></body></html>");
    html
}

fn write_figures(html: &mut String, parts: &MailParts) {
    html.push_str(&format!("{TABLE} width=\"100%\">"));
    for figure in &parts.figures {
        html.push_str("<tr>");
        head(html, figure.label);
        for (words, weight) in
            [(&figure.value, "bold"), (&figure.change, "normal"), (&figure.before, "normal")]
        {
            let style = format!("{FONT};font-weight:{weight};padding:2px 12px 2px 0");
            element(html, "td", &style, words);
        }
        html.push_str("</tr>");
    }
    html.push_str("</table>");
}

fn write_plot(html: &mut String, plot: &MailPlot) {
    element(html, "h2", "font-size:17px;margin:24px 0 4px", plot.title);
    if !plot.about.is_empty() {
        element(html, "p", "margin:0 0 8px", &plot.about);
    }
    html.push_str(&format!("{TABLE}>"));
    for row in &plot.rows {
        html.push_str("<tr>");
        head(html, &row.label);
        html.push_str(&format!(
            "<td width=\"{BAR_PX}\" style=\"width:{BAR_PX}px\" aria-hidden=\"true\">\
             {TABLE} role=\"presentation\" width=\"{BAR_PX}\"><tr>"
        ));
        for (width, colour) in segments(row.length, plot.target) {
            write_segment(html, width, colour);
        }
        html.push_str("</tr></table></td>");
        element(html, "td", &format!("{FONT};padding:2px 0 2px 12px"), &row.value);
        html.push_str("</tr>");
    }
    html.push_str("</table>");
}

/// A cell of a bar; without a colour it is empty.
fn write_segment(html: &mut String, width: u32, colour: &str) {
    let ground = match colour {
        "" => String::new(),
        colour => format!(" bgcolor=\"{colour}\""),
    };
    html.push_str(&format!(
        "<td width=\"{width}\" height=\"{BAR_HEIGHT_PX}\"{ground} \
         style=\"width:{width}px;height:{BAR_HEIGHT_PX}px;font-size:1px;line-height:1px\">\
         &nbsp;</td>"
    ));
}

/// The cells of a bar, by width and colour: together they are as wide as the longest bar.
fn segments(length: f64, target: Option<f64>) -> Vec<(u32, &'static str)> {
    let pixels = |share: f64| (share.clamp(0.0, 1.0) * f64::from(BAR_PX)).round() as u32;
    let filled = pixels(length);
    let mut cells = match target {
        None => vec![(filled, BAR_COLOUR), (BAR_PX - filled, "")],
        Some(target) => {
            let mark = pixels(target).min(BAR_PX - TARGET_PX);
            let within = filled.min(mark);
            let late = filled.saturating_sub(mark + TARGET_PX);
            vec![
                (within, BAR_COLOUR),
                (mark - within, ""),
                (TARGET_PX, TARGET_COLOUR),
                (late, LATE_COLOUR),
                (BAR_PX - mark - TARGET_PX - late, ""),
            ]
        }
    };
    cells.retain(|(width, _)| *width > 0);
    cells
}

/// The head of a row.
fn head(html: &mut String, words: &str) {
    html.push_str(&format!(
        "<th scope=\"row\" align=\"left\" style=\"{FONT};font-weight:normal;padding:2px 12px 2px 0\">"
    ));
    escape(html, words);
    html.push_str("</th>");
}

fn element(html: &mut String, name: &str, style: &str, words: &str) {
    html.push_str(&format!("<{name} style=\"{style}\">"));
    escape(html, words);
    html.push_str(&format!("</{name}>"));
}

fn escape(html: &mut String, words: &str) {
    for c in words.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            c => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_of_a_bar_are_as_wide_as_the_longest_bar() {
        for length in [0.0, 0.2, 0.5, 0.501, 0.75, 1.0, 7.0] {
            for target in [None, Some(0.0), Some(0.5), Some(1.0)] {
                let cells = segments(length, target);
                let width: u32 = cells.iter().map(|(width, _)| width).sum();
                assert_eq!(width, BAR_PX, "{length} of {target:?}");
            }
        }
        assert_eq!(segments(0.0, None), [(BAR_PX, "")]);
        assert_eq!(
            segments(1.0, Some(0.5)),
            [(120, BAR_COLOUR), (TARGET_PX, TARGET_COLOUR), (118, LATE_COLOUR)]
        );
    }

    #[test]
    fn names_of_inboxes_are_words_and_no_elements() {
        let mut html = String::new();
        element(&mut html, "td", "", "<b>A & \"B\"</b>");
        assert_eq!(html, "<td style=\"\">&lt;b&gt;A &amp; &quot;B&quot;&lt;/b&gt;</td>");
    }
}
