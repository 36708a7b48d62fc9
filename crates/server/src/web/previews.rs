//! The first page of a PDF as a picture, drawn by `pdftoppm` (poppler-utils) where it is installed.
//! The program that reads a stranger's file is a child with little memory, time and nothing else to
//! open, that can gain no rights; a file that breaks it breaks nothing here.

use std::path::{Path as FilePath, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Response, header};
use inbox::Error;
use inbox::ids::DocumentId;
use inbox::people;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::Semaphore;

use super::Web;
use super::answers::{Answer, guard};
use super::visitor::Visitor;

/// Pages that are drawn at one time.
const AT_ONCE: usize = 2;
/// A page that takes longer is not drawn.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest side of the picture, in pixels.
const SIDE: &str = "1000";
/// The largest picture, in bytes.
const PICTURE_BYTES: u64 = 8 * 1024 * 1024;
/// What the child may have: memory in bytes, processor time in seconds, open files, no file written.
const LIMITS: &[&str] = &["--as=536870912", "--cpu=8", "--nofile=64", "--fsize=0", "--core=0"];

/// What stands for a page that cannot be drawn.
const SHEET: &str = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 80 60' fill='none' \
                     stroke='#888' stroke-width='1.5'><path d='M26 8h20l8 8v36H26z'/>\
                     <path d='M46 8v8h8M32 28h16M32 36h16M32 44h10'/></svg>";

const POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

/// The programs that draw, where they are installed.
pub struct Previews {
    programs: Option<Programs>,
    places: Semaphore,
}

#[derive(Clone)]
struct Programs {
    setpriv: PathBuf,
    prlimit: PathBuf,
    pdftoppm: PathBuf,
}

impl Previews {
    /// Looks for the programs in the usual folders; without any of them nothing is drawn.
    pub fn find() -> Previews {
        let found = |name: &str| {
            let folders = ["/usr/bin", "/bin", "/usr/local/bin"];
            folders.iter().map(|folder| FilePath::new(folder).join(name)).find(|path| path.exists())
        };
        let programs = || {
            Some(Programs {
                setpriv: found("setpriv")?,
                prlimit: found("prlimit")?,
                pdftoppm: found("pdftoppm")?,
            })
        };
        Previews { programs: programs(), places: Semaphore::new(AT_ONCE) }
    }

    pub fn can_draw(&self) -> bool {
        self.programs.is_some()
    }

    /// The first page as a PNG; `None` when it cannot be drawn.
    async fn draw(&self, pdf: Vec<u8>) -> Option<Vec<u8>> {
        let programs = self.programs.as_ref()?;
        let _place = self.places.acquire().await.ok()?;
        let mut child = Command::new(&programs.setpriv)
            .arg("--no-new-privs")
            .arg("--")
            .arg(&programs.prlimit)
            .args(LIMITS)
            .arg("--")
            .arg(&programs.pdftoppm)
            .args(["-q", "-png", "-f", "1", "-l", "1", "-scale-to", SIDE, "-"])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .ok()?;
        let (mut into, out) = (child.stdin.take()?, child.stdout.take()?);
        let mut picture = Vec::new();
        let drawing = async {
            let feed = async move {
                // A child that has seen enough closes its end.
                let _ = into.write_all(&pdf).await;
            };
            let mut limited = out.take(PICTURE_BYTES);
            let ((), read) = tokio::join!(feed, limited.read_to_end(&mut picture));
            read.ok()?;
            child.wait().await.ok().filter(|status| status.success())
        };
        tokio::time::timeout(PATIENCE, drawing).await.ok()??;
        picture.starts_with(b"\x89PNG").then_some(picture)
    }
}

pub async fn first_page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Answer {
    let missing = || Error::NotFound("document");
    let id = DocumentId::parse(&id).ok_or_else(missing)?;
    let blobs = web.app.blobs.clone();
    let file = web.read(&visitor, move |tx, cx, _| people::file(tx, cx, &blobs, &id)).await?;
    if file.content_type != "application/pdf" {
        return Err(missing().into());
    }
    let (kind, picture) = match web.previews.draw(file.bytes).await {
        Some(picture) => ("image/png", picture),
        None => ("image/svg+xml", SHEET.into()),
    };
    let mut response = Response::new(Body::from(picture));
    guard(&mut response, POLICY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_whole_page_is_drawn_and_a_broken_one_only_fails_itself() {
        let previews = Previews::find();
        let page = inbox::pdf::sheet("INVOICE", &["Total 12.00"]);
        assert_eq!(previews.draw(page).await.is_some(), previews.can_draw());
        for broken in [b"%PDF-1.7 nothing".to_vec(), Vec::new(), vec![0; 100_000]] {
            assert!(previews.draw(broken).await.is_none());
        }
    }
}
