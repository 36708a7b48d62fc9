//! A hostile file fails itself and nothing else.

use std::time::{Duration, Instant};

use document_reader::FileReading;
use tokio::task::JoinSet;

use super::files::{INVOICE, file, invoice_xml, pdf, pdf_with_xml, stream};
use super::{built_in, shown};
use crate::support::Chance;

/// Files that are made, and how many are read at once.
const FILES: usize = 1_000;
const AT_ONCE: usize = 4;
/// One file may take as long as its process is given by the clock, and a moment.
const PATIENCE: Duration = Duration::from_secs(75);

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_broken_files_leave_the_reader_as_it_was() {
    let mut chance = Chance::new(11);
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    let (mut read, mut refused) = (0, 0);
    for number in 0..FILES {
        let bytes = broken(&mut chance, number);
        if tasks.len() == AT_ONCE {
            count(tasks.join_next().await, &mut read, &mut refused);
        }
        tasks.spawn(async move {
            let began = Instant::now();
            let reading = built_in().read_bytes(bytes).await;
            assert!(began.elapsed() < PATIENCE, "file {number} took {:?}", began.elapsed());
            reading
        });
    }
    while let Some(done) = tasks.join_next().await {
        count(Some(done), &mut read, &mut refused);
    }
    println!("{read} read, {refused} refused in {:?}", began.elapsed());
    assert_eq!(read + refused, FILES);
    assert!(refused > FILES / 10, "these files should be worse: {refused}");
    assert_eq!(shown(&built_in().read_bytes(pdf(INVOICE)).await)["kind"], "invoice");
}

fn count(
    done: Option<Result<FileReading, tokio::task::JoinError>>,
    read: &mut usize,
    refused: &mut usize,
) {
    match done.expect("a task").expect("no panic") {
        FileReading::Read { .. } => *read += 1,
        FileReading::Unreadable(_) | FileReading::Later(_) => *refused += 1,
    }
}

#[tokio::test]
async fn files_that_grow_without_end_are_ended() {
    for (name, bytes) in
        [("unpacked", unpacks_for_ever()), ("drawn", draws_for_ever()), ("deep", nests_deeply())]
    {
        let began = Instant::now();
        let read = built_in().within(Duration::from_secs(2)).read_bytes(bytes).await;
        assert!(began.elapsed() < PATIENCE, "{name} took {:?}", began.elapsed());
        let read = shown(&read);
        assert_ne!(read["kind"], "invoice", "{name}: {read}");
    }
    assert_eq!(shown(&built_in().read_bytes(pdf(INVOICE)).await)["kind"], "invoice");
}

/// Cut, overwritten, doubled and shuffled files of every kind that is read.
fn broken(chance: &mut Chance, number: usize) -> Vec<u8> {
    let mut bytes = match number % 5 {
        0 => pdf(INVOICE),
        1 => pdf_with_xml(INVOICE, &invoice_xml()),
        2 => invoice_xml().into_bytes(),
        3 => b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x27\x10\0\0\x27\x10\x08\x02\0\0\0".to_vec(),
        _ => b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".to_vec(),
    };
    for _ in 0..=chance.below(6) {
        let at = chance.below(bytes.len().max(1));
        match chance.below(5) {
            0 => bytes.truncate(at.max(8)),
            1 => bytes[at..].iter_mut().take(9).for_each(|byte| *byte ^= 0x55),
            2 => {
                let part = bytes[at..].to_vec();
                bytes.extend(part);
            }
            3 => {
                let digits = bytes.iter_mut().skip(10).filter(|byte| byte.is_ascii_digit());
                digits.take(200).for_each(|digit| *digit = b'9');
            }
            _ => bytes.rotate_left(at % 64),
        }
    }
    bytes
}

/// A few bytes that unpack to gigabytes: 129 says to repeat what follows 128 times, and what
/// follows is 129.
fn unpacks_for_ever() -> Vec<u8> {
    let filters = format!("/Filter [{}]", "/RunLengthDecode ".repeat(6));
    page_of(stream(&filters, &[129; 64]))
}

/// A page that draws itself, twice, and so on.
fn draws_for_ever() -> Vec<u8> {
    let again = stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /A 5 0 R >> >>",
        "/A Do ".repeat(1_000).as_bytes(),
    );
    file(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
          /Resources << /XObject << /A 5 0 R >> >> >>"
            .to_vec(),
        stream("", b"/A Do /A Do"),
        again,
    ])
}

fn nests_deeply() -> Vec<u8> {
    let mut page = b"/X ".to_vec();
    page.extend("[".repeat(2_000_000).bytes());
    page_of(stream("", &page))
}

fn page_of(content: Vec<u8>) -> Vec<u8> {
    file(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>".to_vec(),
        content,
    ])
}
