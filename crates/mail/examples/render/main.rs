//! Renders the HTML of mails, to look at: for every mail of the arguments, NAME.html as Mailroom
//! shows it, NAME.sent.html as it was sent, and the pictures that it brought.
//!
//!     cargo run --release -p mailroom-mail --example render -- FOLDER MAIL...
//!
//! `--pictures` before the folder shows the place of pictures from elsewhere as shown ones. A page as
//! it was sent may do anything: open it only without scripts and without a network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use mail::{Envelope, PageAddresses, RemotePictures, inline_picture, mail_page, original, parse};

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let remote = match arguments.iter().position(|argument| argument == "--pictures") {
        Some(place) => {
            arguments.remove(place);
            RemotePictures::Shown
        }
        None => RemotePictures::Blocked,
    };
    let Some((folder, mails)) = arguments.split_first() else {
        eprintln!("usage: render [--pictures] FOLDER MAIL...");
        return ExitCode::from(2);
    };
    let folder = PathBuf::from(folder);
    for mail in mails {
        if let Err(error) = render(&folder, Path::new(mail), remote) {
            eprintln!("{mail}: {error}");
        }
    }
    ExitCode::SUCCESS
}

fn render(folder: &Path, mail: &Path, remote: RemotePictures) -> std::io::Result<()> {
    let raw = fs::read(mail)?;
    let name = mail.file_name().unwrap_or_default().to_string_lossy().replace([' ', '#'], "_");
    fs::create_dir_all(folder)?;
    let pictures = format!("{name}.pictures");
    let began = Instant::now();
    let Some(page) = mail_page(&raw, &PageAddresses { pictures: &pictures, remote }) else {
        println!("{name}: {:?}", original(&raw).map(|original| original.page));
        return Ok(());
    };
    println!(
        "{name}: {} bytes, {} remote, {} trackers, {} quoted lines, {} marked links, {:?}",
        page.html.len(),
        page.remote_pictures,
        page.trackers,
        page.quoted_lines,
        page.marked_links,
        began.elapsed()
    );
    fs::write(folder.join(format!("{name}.html")), &page.html)?;
    let sent = parse(&raw, Envelope::default()).html.unwrap_or_default();
    fs::write(folder.join(format!("{name}.sent.html")), sent)?;
    for number in (0..200).filter(|number| page.html.contains(&format!("{pictures}/{number}\""))) {
        if let Some(picture) = inline_picture(&raw, number) {
            fs::create_dir_all(folder.join(&pictures))?;
            fs::write(folder.join(&pictures).join(number.to_string()), picture.bytes)?;
        }
    }
    Ok(())
}
