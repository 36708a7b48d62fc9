//! A mail server that has much to send.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::mails::SampleMail;

/// A server must have answered by then.
const PATIENCE: Duration = Duration::from_secs(60);
/// Mails of one session.
const MAILS: usize = 1_000;

/// A connection that has said hello.
pub struct SmtpSender {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
    sent: usize,
}

impl SmtpSender {
    pub fn connect(address: SocketAddr) -> Result<SmtpSender, String> {
        let connect = || -> std::io::Result<TcpStream> {
            let stream = TcpStream::connect(address)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        let stream = BufReader::new(connect().map_err(|error| error.to_string())?);
        let mut sender = SmtpSender { address, stream, sent: 0 };
        sender.hear("220")?;
        sender.write(b"EHLO sender.bench.example\r\n")?;
        sender.hear("250")?;
        Ok(sender)
    }

    /// Sends a mail; answers how long its acknowledgement took from the first command on.
    pub fn send(
        &mut self,
        mail: &SampleMail,
        id: &str,
        to: &str,
    ) -> Result<(usize, Duration), String> {
        if self.sent == MAILS {
            *self = SmtpSender::connect(self.address)?;
        }
        self.sent += 1;
        let bytes = mail.with_id(id);
        let wait = self.send_bytes(&mail.sender, to, &bytes)?;
        Ok((bytes.len(), wait))
    }

    /// Sends a mail that ends with a line end and has no line that begins with a dot.
    pub fn send_bytes(&mut self, from: &str, to: &str, mail: &[u8]) -> Result<Duration, String> {
        let began = Instant::now();
        let commands = format!("MAIL FROM:<{from}>\r\nRCPT TO:<{to}>\r\nDATA\r\n");
        self.write(commands.as_bytes())?;
        for wanted in ["250", "250", "354"] {
            self.hear(wanted)?;
        }
        self.write(&[mail, &b".\r\n"[..]].concat())?;
        self.hear("250")?;
        Ok(began.elapsed())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.stream.get_mut().write_all(bytes).map_err(|error| error.to_string())
    }

    fn hear(&mut self, wanted: &str) -> Result<(), String> {
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).map_err(|error| error.to_string())?;
            if !line.starts_with(wanted) {
                return Err(format!("the server answered {:?}", line.trim_end()));
            }
            if line.as_bytes().get(3) == Some(&b' ') {
                return Ok(());
            }
        }
    }
}
