//! Draws capital letters and digits with a pen, for pictures of papers.

/// Pixels of a step in a letter's grid, and how far the pen reaches around its point.
const STEP: usize = 6;
const PEN: usize = 2;
/// Steps from one letter to the next, from one line to the next, and around it all.
const LETTER_STEPS: usize = 6;
const LINE_STEPS: usize = 12;
const MARGIN_STEPS: usize = 5;

/// Lines of text in black on white: width, height and shades of gray.
pub fn draw(lines: &[&str]) -> (usize, usize, Vec<u8>) {
    let columns = lines.iter().map(|line| line.len()).max().unwrap_or(0);
    let width = (columns * LETTER_STEPS + 2 * MARGIN_STEPS) * STEP;
    let height = (lines.len() * LINE_STEPS + 2 * MARGIN_STEPS) * STEP;
    let mut gray = vec![255; width * height];
    for (row, line) in lines.iter().enumerate() {
        for (column, letter) in line.chars().enumerate() {
            let corner = (
                (MARGIN_STEPS + column * LETTER_STEPS) * STEP,
                (MARGIN_STEPS + row * LINE_STEPS) * STEP,
            );
            for stroke in strokes(letter).split('/') {
                pull(&mut gray, width, corner, stroke);
            }
        }
    }
    (width, height, gray)
}

/// Pulls the pen along points such as `06 20 46`: right and down from the letter's corner.
fn pull(gray: &mut [u8], width: usize, corner: (usize, usize), stroke: &str) {
    let digit =
        |text: &str, at: usize| text.as_bytes().get(at).map_or(0, |d| usize::from(d - b'0'));
    let points: Vec<(usize, usize)> = stroke
        .split_whitespace()
        .map(|at| (corner.0 + digit(at, 0) * STEP, corner.1 + digit(at, 1) * STEP))
        .collect();
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let count = x0.abs_diff(x1).max(y0.abs_diff(y1)).max(1);
        for at in 0..=count {
            let between = |from: usize, to: usize| (from * (count - at) + to * at) / count;
            let (x, y) = (between(x0, x1), between(y0, y1));
            for line in y - PEN..=y + PEN {
                gray[line * width + x - PEN..=line * width + x + PEN].fill(0);
            }
        }
    }
}

fn strokes(letter: char) -> &'static str {
    match letter {
        'C' => "41 30 10 01 05 16 36 45",
        'A' => "06 20 46/14 34",
        'D' => "00 06 26 45 41 20 00",
        'E' => "40 00 06 46/03 33",
        'I' => "20 26",
        'L' => "00 06 46",
        'M' => "06 00 24 40 46",
        'N' => "06 00 46 40",
        'O' | '0' => "10 01 05 16 36 45 41 30 10",
        'R' => "06 00 30 41 42 33 03/23 46",
        'T' => "00 40/20 26",
        'U' => "00 05 16 36 45 40",
        'V' => "00 26 40",
        '1' => "11 20 26",
        '2' => "01 10 30 41 42 06 46",
        '4' => "36 30 04 44",
        '5' => "40 00 02 32 43 45 36 06",
        '6' => "30 10 01 05 16 36 45 44 33 03",
        '7' => "00 40 16",
        '-' => "13 33",
        '.' => "16 16",
        _ => "",
    }
}
