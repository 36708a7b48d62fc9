//! The port through which the text of app mail is read at the service that sent it.

use base::concurrency::future::BoxFuture;
use base::ids::ServiceId;
use outbound::services::Service;

/// Fetches the text of a mail from the service that sent it.
pub trait AppMailReader: Send + Sync {
    fn read<'a>(&'a self, wanted: &'a AppMailRequest) -> BoxFuture<'a, AppMailBody>;
}

/// The mail to read, with the credentials of its service.
#[derive(Clone)]
pub struct AppMailRequest {
    pub connection: ServiceId,
    pub service: Service,
    pub api_url: String,
    /// Sealed.
    pub api_key: String,
    /// The service's id of the mail.
    pub mail: String,
}

/// The result of a read. Sentences are for the people who run the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppMailBody {
    Found {
        subject: String,
        text: Option<String>,
        html: Option<String>,
    },
    Later(String),
    /// The service does not have it (any more).
    Never(String),
}

/// Fetches nothing: the jobs wait for a process with a reader.
pub(crate) struct NoAppMailReader;

impl AppMailReader for NoAppMailReader {
    fn read<'a>(&'a self, _: &'a AppMailRequest) -> BoxFuture<'a, AppMailBody> {
        Box::pin(async { AppMailBody::Later("This process cannot ask the service.".into()) })
    }
}
