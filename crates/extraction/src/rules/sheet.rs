//! A paper as the rules see it: lines of cells, each with its words, and what stands near a label.

use super::tokens::{WordToken, find, tokens};
use crate::layout::{self, TextPage};

/// Lines below a label in which its value may stand.
const LINES_BELOW: usize = 3;
/// How far below, in heights of the label's letters.
const FAR_BELOW: f32 = 4.5;
/// A value whose line is this near, in heights of the letters, stands beside its label.
const BESIDE: f32 = 1.3;

#[derive(Clone, Debug)]
pub struct SheetCell {
    pub text: String,
    pub tokens: Vec<WordToken>,
    pub left: f32,
    pub right: f32,
    pub size: f32,
}

#[derive(Clone, Debug)]
pub struct SheetRow {
    pub page: usize,
    /// From 0 at the top of its page to 1.
    pub depth: f32,
    pub base: f32,
    pub cells: Vec<SheetCell>,
}

impl SheetRow {
    pub fn text(&self) -> String {
        let cells: Vec<&str> = self.cells.iter().map(|cell| cell.text.as_str()).collect();
        cells.join("  ")
    }

    pub fn tokens(&self) -> Vec<WordToken> {
        tokens(&self.text())
    }
}

pub struct Sheet {
    pub rows: Vec<SheetRow>,
    /// The height of most letters.
    pub usual_size: f32,
}

/// Where a label stands.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    pub row: usize,
    pub cell: usize,
    /// The numbers of its first token and of the one after it.
    pub from: usize,
    pub to: usize,
}

/// A text near a label, and how near: 0 is right behind it.
#[derive(Clone, Debug)]
pub struct Near {
    pub text: String,
    pub steps: u32,
    pub row: usize,
}

impl Sheet {
    pub fn of(pages: &[TextPage]) -> Sheet {
        let rows: Vec<SheetRow> = layout::lines(pages)
            .into_iter()
            .map(|line| SheetRow {
                page: line.page,
                depth: line.depth,
                base: line.base,
                cells: line
                    .cells
                    .into_iter()
                    .map(|cell| SheetCell {
                        tokens: tokens(&cell.text),
                        text: cell.text,
                        left: cell.left,
                        right: cell.right,
                        size: cell.size,
                    })
                    .collect(),
            })
            .collect();
        let mut sizes: Vec<f32> =
            rows.iter().flat_map(|row| &row.cells).map(|cell| cell.size).collect();
        sizes.sort_by(f32::total_cmp);
        let usual_size = sizes.get(sizes.len() / 2).copied().unwrap_or(10.0);
        Sheet { rows, usual_size }
    }

    /// Every place where one of the phrases stands; in one cell, the longest.
    pub fn labels(&self, phrases: &[&str]) -> Vec<Label> {
        let mut labels = Vec::new();
        for (row, line) in self.rows.iter().enumerate() {
            for (cell, words) in line.cells.iter().enumerate() {
                if let Some((from, to)) = find(&words.tokens, phrases) {
                    labels.push(Label { row, cell, from, to });
                }
            }
        }
        labels
    }

    pub fn cell(&self, label: &Label) -> &SheetCell {
        &self.rows[label.row].cells[label.cell]
    }

    /// What may be the value of a label: the rest of its cell, cells to the right, cells below.
    pub fn near(&self, label: &Label) -> Vec<Near> {
        let row = &self.rows[label.row];
        let cell = self.cell(label);
        let end = cell.tokens.get(label.to.wrapping_sub(1)).map_or(0, |token| token.end);
        let mut near = Vec::new();
        let mut add = |text: &str, steps: u32, row: usize| {
            let text = text.trim_start_matches(|c: char| {
                c.is_whitespace() || matches!(c, ':' | '.' | ';' | ')' | ']' | '|' | ',' | '=')
            });
            if !text.trim().is_empty() {
                near.push(Near { text: text.to_owned(), steps, row });
            }
        };
        add(&cell.text[end..], 0, label.row);
        for (steps, right) in row.cells[label.cell + 1..].iter().enumerate() {
            add(&right.text, 1 + steps as u32, label.row);
        }
        let below = self.rows.iter().enumerate().skip(label.row + 1).take(LINES_BELOW);
        for (steps, (number, lower)) in below.enumerate() {
            let drop = lower.base - row.base;
            if lower.page != row.page || drop > FAR_BELOW * cell.size {
                break;
            }
            for under in &lower.cells {
                let meets = under.left < cell.right && under.right > cell.left;
                if meets {
                    add(&under.text, 3 + 2 * steps as u32, number);
                } else if drop <= BESIDE * cell.size && under.left >= cell.right {
                    add(&under.text, 2, number);
                }
            }
        }
        near
    }

    /// The texts of all rows.
    pub fn texts(&self) -> impl Iterator<Item = String> + '_ {
        self.rows.iter().map(SheetRow::text)
    }
}
