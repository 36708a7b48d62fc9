//! What is shown of an answer: so many lines, and always what leads on.

use base::limits::PANEL_LINES_SHOWN;
use customer_panel::{BadgeTone, PanelAnswer, PanelBlock};
use url::Url;

/// A block as it is shown.
pub enum BlockView {
    Text(String),
    KeyValue {
        key: String,
        value: String,
    },
    Table {
        columns: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    Badge {
        text: String,
        class: &'static str,
    },
    /// With the host that it leads to.
    Link {
        text: String,
        url: String,
        host: String,
    },
    /// The id of the button, and its words.
    Button {
        button: String,
        text: String,
    },
}

/// The blocks that fit, and whether more was said.
pub fn blocks(answer: &PanelAnswer) -> (Vec<BlockView>, bool) {
    let mut room = PANEL_LINES_SHOWN;
    let mut is_cut = false;
    let mut shown = Vec::new();
    for block in &answer.blocks {
        let leads_on = matches!(block, PanelBlock::Link { .. } | PanelBlock::Button { .. });
        if leads_on {
            shown.push(view(block, usize::MAX));
        } else if room > 0 {
            is_cut |= block.lines() > room;
            shown.push(view(block, room));
            room = room.saturating_sub(block.lines());
        } else {
            is_cut = true;
        }
    }
    (shown, is_cut)
}

fn view(block: &PanelBlock, room: usize) -> BlockView {
    match block.clone() {
        PanelBlock::Text { text } => BlockView::Text(text),
        PanelBlock::KeyValue { key, value } => BlockView::KeyValue { key, value },
        PanelBlock::Table { columns, rows } => {
            BlockView::Table { columns, rows: rows.into_iter().take(room).collect() }
        }
        PanelBlock::Badge { text, tone } => BlockView::Badge { text, class: class(tone) },
        PanelBlock::Link { text, url } => {
            let parsed = Url::parse(&url).ok();
            let host = parsed.and_then(|url| url.host_str().map(str::to_owned));
            BlockView::Link { text, url, host: host.unwrap_or_default() }
        }
        PanelBlock::Button { id, text } => BlockView::Button { button: id, text },
    }
}

fn class(tone: BadgeTone) -> &'static str {
    match tone {
        BadgeTone::Neutral => "",
        BadgeTone::Ok => "ok",
        BadgeTone::Warn => "warn",
        BadgeTone::Danger => "danger",
    }
}

#[cfg(test)]
mod tests {
    use customer_panel::PanelState;

    use super::*;

    #[test]
    fn eight_lines_are_shown_and_all_that_leads_on() {
        let row = |n: usize| vec![n.to_string()];
        let table =
            |n: usize| PanelBlock::Table { columns: vec![], rows: (0..n).map(row).collect() };
        let link = PanelBlock::Link { text: "All".into(), url: "https://shop.example/c".into() };
        let answer =
            |blocks| PanelAnswer { state: PanelState::Answered, name: None, at: None, blocks };
        let (shown, is_cut) = blocks(&answer(vec![table(5), table(9), table(1), link.clone()]));
        let rows: Vec<usize> = shown
            .iter()
            .filter_map(|block| match block {
                BlockView::Table { rows, .. } => Some(rows.len()),
                _ => None,
            })
            .collect();
        assert_eq!((rows, is_cut, shown.len()), (vec![5, 3], true, 3));
        assert!(matches!(&shown[2], BlockView::Link { host, .. } if host == "shop.example"));
        assert!(!blocks(&answer(vec![table(8), link])).1);
    }
}
