//! The sentences of the delivery log for failed calls.

use std::error::Error;
use std::io;
use std::time::Duration;

use rustls::CertificateError::{
    Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet,
    NotValidYetContext, UnknownIssuer,
};

/// No response before the timeout.
pub fn too_slow(deadline: Duration) -> String {
    format!("No answer came within {} seconds.", deadline.as_secs_f64())
}

/// The name was not found before the deadline.
pub fn slow_name(deadline: Duration) -> String {
    format!("The address's name could not be found within {} seconds.", deadline.as_secs_f64())
}

pub const NOT_FOUND: &str = "The address's name could not be found.";

/// Why the client gave up, without the addresses and causes that it names.
pub fn of(error: &reqwest::Error, deadline: Duration) -> String {
    if error.is_timeout() {
        return too_slow(deadline);
    }
    if let Some(tls) = cause::<rustls::Error>(error) {
        return of_tls(tls).into();
    }
    let refused = |io: &io::Error| io.kind() == io::ErrorKind::ConnectionRefused;
    let sentence = if cause::<io::Error>(error).is_some_and(refused) {
        "The receiver refused the connection."
    } else if error.is_connect() {
        "No connection could be made."
    } else if cause::<hyper::Error>(error).is_some_and(hyper::Error::is_parse) {
        "The answer was not HTTP."
    } else {
        "The connection broke before an answer came."
    };
    sentence.into()
}

fn of_tls(error: &rustls::Error) -> &'static str {
    let rustls::Error::InvalidCertificate(problem) = error else {
        return "No secure connection could be made.";
    };
    match problem {
        NotValidForName | NotValidForNameContext { .. } => {
            "The receiver's certificate is for another name."
        }
        Expired | ExpiredContext { .. } => "The receiver's certificate has expired.",
        NotValidYet | NotValidYetContext { .. } => "The receiver's certificate is not valid yet.",
        UnknownIssuer => "The receiver's certificate is from an authority that is not trusted.",
        _ => "The receiver's certificate is not valid.",
    }
}

/// The first cause of a type. An I/O error has its inner error in `get_ref`, not in `source`.
fn cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}
