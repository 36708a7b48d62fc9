//! The documents by which OAuth clients name themselves, fetched for a signed-in person.

use std::time::Duration;

use model::people::oauth_clients::ClientMetadata;
use tokio::sync::{OnceCell, Semaphore};
use transport::net::http_client::system_roots;
use transport::net::https_fetch::Pages;
use transport::net::ssrf_guard::SsrfGuard;

/// Documents that are fetched at one time.
const AT_ONCE: usize = 8;
/// Time for one document.
const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of one document.
const DOCUMENT_BYTES: usize = 64 * 1024;

pub struct ClientDocumentFetcher {
    ssrf_guard: SsrfGuard,
    pages: OnceCell<Option<Pages>>,
    slots: Semaphore,
}

impl ClientDocumentFetcher {
    pub fn new(ssrf_guard: SsrfGuard) -> ClientDocumentFetcher {
        ClientDocumentFetcher { ssrf_guard, pages: OnceCell::new(), slots: Semaphore::new(AT_ONCE) }
    }

    /// `None` for what cannot be fetched in time, and for what is no document about this address. No
    /// redirect is followed: the address is the client's name.
    pub async fn fetch(&self, address: &str) -> Option<ClientMetadata> {
        let _slot = self.slots.try_acquire().ok()?;
        let pages = self.pages.get_or_init(async || self.open()).await.as_ref()?;
        fetch_client_document(pages, address).await
    }

    fn open(&self) -> Option<Pages> {
        Pages::new(self.ssrf_guard.clone(), system_roots(), DOCUMENT_TIMEOUT)
            .inspect_err(|error| tracing::error!(error, "client documents cannot be fetched"))
            .ok()
    }
}

/// The document at an address: JSON that says it is about that address.
pub async fn fetch_client_document(pages: &Pages, address: &str) -> Option<ClientMetadata> {
    let page = pages.get(address, DOCUMENT_BYTES).await.ok()?;
    let is_json = page.kind == "application/json" || page.kind.ends_with("+json");
    let is_document = page.status == 200 && is_json;
    is_document.then(|| ClientMetadata::of_document(address, &page.body)).flatten()
}
