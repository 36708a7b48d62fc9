//! A client that costs little: one keep-alive connection, requests made beforehand, nothing
//! allocated for an answer. The load and the server share the machine's cores.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Room for the answers that come most; a larger one makes more.
const ANSWER_BYTES: usize = 64 * 1024;

pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer, as long as the next is not asked for.
pub struct HttpResponse<'a> {
    pub status: u16,
    pub head: &'a [u8],
    pub body: &'a [u8],
}

impl Client {
    pub async fn connect(address: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, buffer: vec![0; ANSWER_BYTES] })
    }

    pub async fn call(&mut self, request: &[u8]) -> io::Result<HttpResponse<'_>> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        let mut whole = None;
        while whole.is_none_or(|(_, whole)| filled < whole) {
            if filled == self.buffer.len() {
                self.buffer.resize(2 * filled, 0);
            }
            let more = self.stream.read(&mut self.buffer[filled..]).await?;
            if more == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            filled += more;
            if whole.is_none() {
                whole = lengths(&self.buffer[..filled])?;
            }
        }
        let (head, whole) = whole.unwrap_or_default();
        let status = self.buffer.get(9..12).and_then(|digits| str::from_utf8(digits).ok());
        let status = status.and_then(|digits| digits.parse().ok()).ok_or_else(garbled_response)?;
        Ok(HttpResponse { status, head: &self.buffer[..head], body: &self.buffer[head..whole] })
    }
}

/// Where the head ends and where the answer does; `None` while the head is not whole.
fn lengths(bytes: &[u8]) -> io::Result<Option<(usize, usize)>> {
    const LENGTH: &[u8] = b"\r\ncontent-length: ";
    let Some(head) = find(bytes, b"\r\n\r\n") else { return Ok(None) };
    let start = find(&bytes[..head], LENGTH).ok_or_else(garbled_response)? + LENGTH.len();
    let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit());
    let length = digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
    Ok(Some((head + 4, head + 4 + length)))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn garbled_response() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not an answer with a length")
}

#[cfg(test)]
mod tests {
    use super::lengths;

    #[test]
    fn an_answer_ends_where_its_length_says() {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\nvary: Origin\r\n\r\nHello";
        let head = answer.len() - 5;
        assert_eq!(lengths(answer).unwrap(), Some((head, head + 12)));
        assert_eq!(lengths(&answer[..head - 1]).unwrap(), None);
        assert!(lengths(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
