//! A server that is asked to stop while pages are open.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use super::target::AttackTarget;
use crate::database::DatabaseKind;
use crate::report::{Goal, Wanted};
use crate::requests::page_request;

const PAGES: usize = 20;
const READ_BYTES: usize = 4 * 1024;

/// How long the process takes to end.
pub fn measure(
    target: &mut AttackTarget,
    kind: DatabaseKind,
    patience: f64,
    runtime: &Runtime,
) -> Result<Goal, String> {
    let path = format!("/live?view=open&conversation={}", target.conversation);
    let request = page_request(&target.session, &path);
    let mut pages = Vec::new();
    for _ in 0..PAGES {
        let opened = open_page(target.http, &request);
        pages.push(runtime.block_on(opened).map_err(|error| error.to_string())?);
    }
    let took = target.server.terminate()?;
    Ok(Goal {
        what: format!("stopping with {PAGES} open pages: seconds ({})", kind.name()),
        value: took.as_secs_f64(),
        wanted: Wanted::AtMost(patience + 1.0),
    })
}

/// A connection on which the server has begun to answer.
async fn open_page(http: std::net::SocketAddr, request: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(http).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut heard = [0; READ_BYTES];
    match stream.read(&mut heard).await? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(stream),
    }
}
