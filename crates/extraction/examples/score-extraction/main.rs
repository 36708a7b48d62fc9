//! Reads invoices of a folder and compares what was read with what is known of them.
//!
//!     cargo run -p mailroom-extraction --example score-extraction -- FOLDER…
//!
//! What is known is in the XML inside a PDF or in a bare XML file (`zugferd-corpus`), or in a JSON
//! file beside the document (`invoice2data`). Files with XML are read twice: as they are, and by
//! their words alone. Half of the files, chosen by their names, are held out: whoever writes rules
//! looks at the mistakes of the others only. `--lines FILE` prints what the rules see in a file.

mod report;
mod truth;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use extraction::Contents;
use report::Report;
use truth::Truth;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some((flag, files)) = args.split_first()
        && flag == "--lines"
    {
        files.iter().for_each(|file| print_lines(Path::new(file)));
        return;
    }
    if args.is_empty() {
        eprintln!("Name the folders to read.");
        std::process::exit(2);
    }
    let mut files = Vec::new();
    args.iter().for_each(|folder| collect(Path::new(folder), &mut files));
    files.sort();
    let mut report = Report::default();
    for path in &files {
        read(path, &mut report);
    }
    report.print();
}

fn print_lines(path: &Path) {
    let bytes = fs::read(path).expect("a file that can be read");
    println!("== {}", path.display());
    match extraction::open(&bytes) {
        Ok(contents) => println!("{}\n{:?}", contents.text(), contents.extract_from_words()),
        Err(error) => println!("{}", error.sentence()),
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

fn read(path: &Path, report: &mut Report) {
    let kind = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    let Ok(bytes) = fs::read(path) else { return };
    if !matches!(kind, "pdf" | "xml" | "txt") {
        return;
    }
    let began = Instant::now();
    let opened = extraction::open(&bytes);
    let millis = began.elapsed().as_secs_f64() * 1_000.0;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let beside = fs::read_to_string(path.with_extension("json")).ok();
    let inside = match kind {
        "pdf" => extraction::files_inside(&bytes).iter().find_map(|file| Truth::of_xml(file)),
        "xml" => Truth::of_xml(&bytes),
        _ => None,
    };
    let contents = opened.unwrap_or_else(|error| {
        println!("{name}: {}", error.sentence());
        Contents::default()
    });
    report.record_time(name, millis);
    if let Some(truth) = &inside {
        report.compare("with XML", name, truth, &contents.paper());
        if kind == "pdf" && !contents.needs_ocr() {
            report.compare("by words", name, truth, &contents.extract_from_words());
        }
    }
    if let Some(truth) = beside.as_deref().and_then(Truth::of_json) {
        report.compare("by words", name, &truth, &contents.extract_from_words());
    }
}
