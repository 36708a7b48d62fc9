//! The files that sample customers attach, made here so that no binary lies in the repository.

use serde::Deserialize;

/// A file as a story names it.
#[derive(Deserialize)]
pub struct SampleFile {
    pub name: String,
    #[serde(flatten)]
    content: SampleContent,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum SampleContent {
    /// A PDF of one page.
    Sheet { title: String, lines: Vec<String> },
    /// A picture of shapes, each over the ones before.
    Photo { shapes: Vec<Slab> },
    /// A table with commas between.
    Table { text: String },
    /// An invitation, as a calendar writes it.
    Invitation { text: String },
    /// A vCard.
    Contact { text: String },
}

/// A shape between two heights of a picture, whose sides may lean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slab {
    /// From the top to the bottom row, without the last.
    rows: (i32, i32),
    /// The left side at the top and at the bottom.
    left: (i32, i32),
    /// The right side at the top and at the bottom.
    right: (i32, i32),
    colour: Colour,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Colour {
    Wall,
    Floor,
    Linen,
    Glow,
    Wood,
    DarkWood,
    Card,
    Crack,
}

impl SampleFile {
    pub fn content_type(&self) -> &'static str {
        match self.content {
            SampleContent::Sheet { .. } => "application/pdf",
            SampleContent::Photo { .. } => "image/png",
            SampleContent::Table { .. } => "text/csv",
            SampleContent::Invitation { .. } => "text/calendar",
            SampleContent::Contact { .. } => "text/vcard",
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        match &self.content {
            SampleContent::Sheet { title, lines } => {
                let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                model::documents::pdf::sheet(title, &lines)
            }
            SampleContent::Photo { shapes } => png(shapes),
            SampleContent::Table { text } => text.as_bytes().to_vec(),
            // Their formats end lines with CR LF.
            SampleContent::Invitation { text } | SampleContent::Contact { text } => {
                text.replace('\n', "\r\n").into_bytes()
            }
        }
    }
}

const WIDTH: usize = 160;
const HEIGHT: usize = 120;
/// Red, green and blue of each colour, in the order of [`Colour`].
const PALETTE: [u8; 24] = [
    226, 219, 208, 168, 140, 112, 240, 234, 222, 255, 221, 150, 178, 128, 80, 110, 74, 46, 196,
    160, 116, 40, 26, 18,
];

/// A picture of indexed colours, kept as it is: the blob store packs it.
fn png(slabs: &[Slab]) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend((WIDTH as u32).to_be_bytes());
    header.extend((HEIGHT as u32).to_be_bytes());
    header.extend([8, 3, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"PLTE", &PALETTE);
    chunk(&mut file, b"IDAT", &stored_zlib(&rows(slabs)));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// Each row's pixels after the byte that says they are not filtered.
fn rows(slabs: &[Slab]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(HEIGHT * (WIDTH + 1));
    for y in 0..HEIGHT as i32 {
        rows.push(0);
        for x in 0..WIDTH as i32 {
            let top = slabs.iter().rev().find(|slab| slab.covers(x, y));
            rows.push(top.map_or(Colour::Wall, |slab| slab.colour) as u8);
        }
    }
    rows
}

impl Slab {
    fn covers(&self, x: i32, y: i32) -> bool {
        let (top, bottom) = self.rows;
        let side = |(from, to): (i32, i32)| from + (to - from) * (y - top) / (bottom - top).max(1);
        (top..bottom).contains(&y) && (side(self.left)..side(self.right)).contains(&x)
    }
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let sum = crc32(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// Bytes in one block that is stored, not compressed, which holds up to 65,535 of them.
fn stored_zlib(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u16;
    let mut stream = vec![0x78, 0x01, 1];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(bytes);
    stream.extend(adler32(bytes).to_be_bytes());
    stream
}

fn crc32(bytes: &[u8]) -> u32 {
    let shifted = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    let step = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| shifted(sum));
    !bytes.iter().fold(!0, step)
}

fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1, 0), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (a + b) % 65_521)
    });
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn the_table_of_a_pdf_points_at_its_objects() {
        let file = model::documents::pdf::sheet("Grüsse (1)", &["a", "b"]);
        let text: String = file.iter().map(|byte| char::from(*byte)).collect();
        let table: usize =
            text.rsplit_once("startxref\n").unwrap().1.lines().next().unwrap().parse().unwrap();
        let places: Vec<usize> = text[char_start(&text, table)..]
            .lines()
            .filter(|line| line.ends_with(" n "))
            .map(|line| line[..10].parse().unwrap())
            .collect();
        assert_eq!(places.len(), 6);
        for (index, place) in places.into_iter().enumerate() {
            assert!(file[place..].starts_with(format!("{} 0 obj\n", index + 1).as_bytes()));
        }
        assert!(text.contains("(Grüsse \\(1\\)) Tj"));
    }

    /// Where a character of a Latin-1 text begins in the string it was read into.
    fn char_start(text: &str, place: usize) -> usize {
        text.char_indices().nth(place).unwrap().0
    }

    #[test]
    fn a_picture_fits_one_stored_block_and_says_its_size() {
        let file =
            png(&[Slab { rows: (0, 120), left: (0, 0), right: (10, 10), colour: Colour::Crack }]);
        assert!(HEIGHT * (WIDTH + 1) <= usize::from(u16::MAX));
        assert_eq!(file[16..24], [0, 0, 0, 160, 0, 0, 0, 120]);
        assert!(file.ends_with(b"IEND\xae\x42\x60\x82"));
    }
}
