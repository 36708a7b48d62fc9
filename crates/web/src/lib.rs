//! The web app: pages that work without a script, and forms that call the domain.
//!
//! Each page is one read transaction: whose session it is, the navigation, and what the page
//! shows. Each form is one write transaction. Templates get ready-made view structs.

// Templates of other crates and of this one name it the same.
extern crate self as web;

pub mod booking;
pub mod client_documents;
pub mod compression;
pub mod demo_visits;
pub mod forms;
pub mod guest;
pub mod layout;
pub mod live;
pub mod log;
pub mod mail_reach;
pub mod mail_setup;
pub mod page_version;
pub mod pages;
pub mod passwords;
pub mod picture_cache;
pub mod presence;
pub mod queue_words;
pub mod reader;
pub mod remote_pictures;
pub mod secure_pages;
pub mod signed_in;
pub mod upload;
pub mod visitor;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use base::app::App;
use document_reader::{DocumentTexts, PageRenderer, Previewer};
use node::quiet::QuietMode;
use tokio::sync::Semaphore;
use transport::http::slots::Slots;
use transport::mail_oauth::OAuthClients;
use transport::mailbox_setup::MailboxFinder;
use transport::net::ssrf_guard::SsrfGuard;
use transport::oidc::OidcClient;
use transport::reply_model::ModelEndpoint;

use crate::forms::multipart::FORMS_WITH_FILES;
use client_documents::ClientDocumentFetcher;
use layout::{assets, brand_files, installed_app, responses};
use pages::conversation::{merging, printing, sorting};
use pages::lists::{inbox_page, mentions, palette, search, triage};
use pages::mail_files::{
    attached_mails, document_requests, documents, files, mail_frame, originals, previews,
    scaled_pictures,
};
use pages::signing_in::{consent, first_run, passkeys, provider, second_step, sign_in, sign_out};
use pages::writing::{
    approvals, compose, new_conversation, offer_times, request_documents, scheduled, secure_text,
    unsent,
};
use pages::{calendar as calendar_page, contact, conversation, reports};
use picture_cache::PictureCache;
use remote_pictures::RemotePictureFetcher;

pub use client_documents::fetch_client_document;
pub use demo_visits::{DemoRefusal, DemoVisits};
pub use mail_setup::{MailSetup, OutgoingMailSetup};
pub use pages::signing_in::first_run::{FillSample, FirstRun};
pub use presence::Presence;

/// Passwords that are hashed, and DKIM keys that are generated, at one time; each takes a core, a
/// password some 20 MB too.
const HASHING_AT_ONCE: usize = 2;
/// Domains whose records are looked up at one time.
const LOOKUPS_AT_ONCE: usize = 8;
/// Mail servers that are tried out, and test mails that are sent, at one time.
const TRIALS_AT_ONCE: usize = 8;
/// Pages that may listen for changes at one time.
const LISTENERS: usize = 5_000;

/// What the handlers share beside the app.
pub struct Web {
    pub app: App,
    /// True if the public address is https, so that cookies are sent over https only.
    pub https: bool,
    pub ssrf_guard: SsrfGuard,
    pub outgoing: OutgoingMailSetup,
    pub mailbox_finder: Arc<MailboxFinder>,
    pub oauth_clients: OAuthClients,
    /// The provider at which people sign in, if there is one.
    pub oidc: Option<OidcClient>,
    pub quiet: QuietMode,
    pub mail_setup: MailSetup,
    pub hashing: Semaphore,
    pub lookups: Semaphore,
    /// Mail servers that are being tried out.
    pub trials: Semaphore,
    /// Forms with files that are being read.
    pub forms: Arc<Slots>,
    /// Other large bodies that are being read, including those of the API.
    pub large_bodies: Arc<Slots>,
    pub listeners: Arc<Semaphore>,
    /// Files of customers that are being uploaded.
    pub streams: Arc<Slots>,
    pub locks: upload::UploadLocks,
    pub page_renderer: Arc<PageRenderer>,
    pub previewer: Previewer,
    pub mail_parsers: mail_frame::MailParsers,
    pub picture_cache: Arc<PictureCache>,
    pub remote_pictures: RemotePictureFetcher,
    pub client_documents: ClientDocumentFetcher,
    pub presence: Arc<Presence>,
    /// The language model that drafts replies, if there is one.
    pub model: Option<ModelEndpoint>,
    /// Makes the calls of the developer site's console.
    pub document_texts: Arc<DocumentTexts>,
    /// The set-up in the browser, where the server began without a workspace.
    pub first_run: Option<Arc<FirstRun>>,
    /// Makes workspaces with made-up mail.
    pub fill_sample: FillSample,
    /// Lets visitors into samples of their own, in a public demo.
    pub demo_visits: Option<Arc<dyn DemoVisits>>,
}

/// What the app is started with.
pub struct WebOptions {
    pub ssrf_guard: SsrfGuard,
    pub outgoing: OutgoingMailSetup,
    /// Finds the servers of a mailbox.
    pub mailbox_finder: Arc<MailboxFinder>,
    /// Where people can sign in to connect a mailbox.
    pub oauth_clients: OAuthClients,
    /// The OpenID provider at which people sign in.
    pub oidc: Option<OidcClient>,
    pub quiet: QuietMode,
    pub mail_setup: MailSetup,
    /// This program, which is started to decode files in the sandbox.
    pub program: PathBuf,
    /// Shared with the API.
    pub large_bodies: Arc<Slots>,
    /// The language model that drafts replies, if there is one.
    pub model: Option<ModelEndpoint>,
    /// Shared with the API.
    pub document_texts: Arc<DocumentTexts>,
    /// Who has which conversation open; shared with the jobs.
    pub presence: Arc<Presence>,
    /// The set-up in the browser, where the server began without a workspace.
    pub first_run: Option<Arc<FirstRun>>,
    /// Makes workspaces with made-up mail.
    pub fill_sample: FillSample,
    /// Lets visitors into samples of their own, in a public demo.
    pub demo_visits: Option<Arc<dyn DemoVisits>>,
}

impl Web {
    pub fn new(app: App, options: WebOptions) -> Arc<Web> {
        let WebOptions {
            ssrf_guard,
            outgoing,
            mailbox_finder,
            oauth_clients,
            oidc,
            quiet,
            mail_setup,
            program,
            large_bodies,
            model,
            document_texts,
            presence,
            first_run,
            fill_sample,
            demo_visits,
        } = options;
        let https = app.public_url.starts_with("https://");
        let hashing = Semaphore::new(HASHING_AT_ONCE);
        let lookups = Semaphore::new(LOOKUPS_AT_ONCE);
        let trials = Semaphore::new(TRIALS_AT_ONCE);
        let listeners = Arc::new(Semaphore::new(LISTENERS));
        let page_renderer = Arc::new(PageRenderer::with_program(program));
        let forms = Slots::new(FORMS_WITH_FILES);
        let remote_pictures = RemotePictureFetcher::new(ssrf_guard.clone());
        let client_documents = ClientDocumentFetcher::new(ssrf_guard.clone());
        let (streams, locks) = (Slots::new(upload::STREAMS), upload::UploadLocks::default());
        Arc::new(Web {
            app,
            https,
            ssrf_guard,
            outgoing,
            mailbox_finder,
            oauth_clients,
            oidc,
            quiet,
            mail_setup,
            hashing,
            lookups,
            trials,
            forms,
            large_bodies,
            listeners,
            streams,
            locks,
            previewer: Previewer::new(Arc::clone(&page_renderer)),
            page_renderer,
            mail_parsers: mail_frame::MailParsers::default(),
            picture_cache: Arc::default(),
            remote_pictures,
            client_documents,
            presence,
            model,
            document_texts,
            first_run,
            fill_sample,
            demo_visits,
        })
    }
}

/// The routes of the app, beside `others`: those of pages that lie in crates above.
pub fn router(web: Arc<Web>, others: Router<Arc<Web>>) -> Router {
    Router::new()
        .route("/", get(inbox_page::home))
        .route("/assets/{name}", get(assets::asset))
        .route("/brand/{file}", get(brand_files::brand_file))
        .route("/service-worker.js", get(assets::service_worker))
        .route("/manifest.webmanifest", get(installed_app::manifest))
        .route("/offline", get(installed_app::offline))
        .route("/sign-in", get(sign_in::page).post(sign_in::with_password))
        .route("/sign-in/code", get(second_step::code_page).post(second_step::enter_code))
        .route("/sign-in/set-up", get(second_step::set_up_page).post(second_step::confirm_set_up))
        .route("/sign-in/passkey", post(passkeys::sign_in))
        .route("/sign-in/passkey/challenge", post(passkeys::challenge))
        .route("/sign-in/provider", post(provider::begin))
        .route("/sign-in/{token}", get(sign_in::link_page).post(sign_in::with_link))
        .route("/sign-in-link", post(sign_in::mail_link))
        .route("/setup/{secret}", get(first_run::page).post(first_run::set_up))
        .route("/setup/{secret}/sample", post(first_run::fill_sample))
        .route("/sign-out", post(sign_out::sign_out))
        .route("/authorize", get(consent::page).post(consent::decide))
        .route("/inbox", get(inbox_page::list))
        .route("/search", get(search::page))
        .route("/palette", get(palette::matches))
        .route("/views", post(search::save))
        .route("/views/remove", post(search::remove))
        .route("/triage", post(triage::act))
        .route("/triage/opens", post(triage::choose))
        .route("/undo", post(triage::undo))
        .route("/keyboard", get(signed_in::help))
        .route("/session", get(signed_in::session))
        .route("/unsent", get(forms::interrupted::page))
        .route("/live", get(live::listen))
        .route("/conversations/{id}", get(conversation::page))
        .route("/conversations/{id}/reply", post(compose::reply))
        .route("/conversations/{id}/note", post(compose::note))
        .route("/conversations/{id}/ask", post(request_documents::ask))
        .route("/conversations/{id}/times", post(offer_times::offer))
        .route("/conversations/{id}/autosave", post(compose::keep))
        .route("/conversations/{id}/pictures", post(compose::picture))
        .route("/conversations/{id}/status", post(conversation::set_status))
        .route("/conversations/{id}/assign", post(conversation::assign))
        .route("/conversations/{id}/tags", post(conversation::tag))
        .route("/conversations/{id}/sorting", post(sorting::sort))
        .route("/conversations/{id}/snooze", post(conversation::snooze))
        .route("/conversations/{id}/release", post(conversation::release))
        .route("/conversations/{id}/warning", post(conversation::remove_warning))
        .route("/conversations/{id}/watch", post(triage::watch))
        .route("/conversations/{id}/merge", get(merging::page).post(merging::merge))
        .route("/conversations/{id}/print", get(printing::page))
        .route("/conversations/{id}/unmerge", post(merging::undo))
        .route("/conversations/{id}/messages/{message}/split", post(merging::split))
        .route("/conversations/{id}/messages/{message}/original", get(originals::page))
        .route("/conversations/{id}/messages/{message}/headers", get(originals::headers))
        .route("/conversations/{id}/messages/{message}/html", get(originals::html))
        .route(
            "/conversations/{id}/messages/{message}/show-pictures",
            post(originals::show_pictures),
        )
        .route(
            "/conversations/{id}/messages/{message}/hide-pictures",
            post(originals::hide_pictures),
        )
        .route("/conversations/{id}/messages/{message}/pictures/{number}", get(originals::picture))
        .route(
            "/conversations/{id}/messages/{message}/html/pictures/{number}",
            get(originals::frame_picture),
        )
        .route(
            "/conversations/{id}/messages/{message}/html/pictures/remote/{number}",
            get(originals::remote_picture),
        )
        .route("/conversations/{id}/saved/{reply}", post(compose::saved_reply))
        .route("/conversations/{id}/answer", post(compose::insert_answer))
        .route("/contacts/{address}", get(contact::page))
        .route("/contacts/{address}/notes", post(contact::add_note))
        .route("/contacts/{address}/notes/{note}/delete", post(contact::delete_note))
        .route("/contacts/{address}/merge", post(contact::merge))
        .route("/contacts/{address}/separate", post(contact::separate))
        .route("/contacts/{address}/fields", post(contact::set_fields))
        .route("/contacts/{address}/block", post(contact::block))
        .route("/contacts/{address}/unblock", post(contact::unblock))
        .route("/new", get(new_conversation::page).post(new_conversation::send))
        .route("/new/autosave", post(new_conversation::keep))
        .route("/new/pictures", post(new_conversation::picture))
        .route("/new/saved/{reply}", post(new_conversation::saved_reply))
        .route("/people", get(unsent::people))
        .route("/attachments/{attachment}", get(files::attachment))
        .route("/attachments/{attachment}/preview", get(previews::of_attachment))
        .route("/attachments/{attachment}/scaled", get(scaled_pictures::of_attachment))
        .route("/protected/{message}/{file}", get(files::secure_file))
        .route("/documents", get(documents::page))
        .route("/reports", get(reports::page))
        .route("/reports.csv", get(reports::csv))
        .route("/documents/{id}", get(files::document))
        .route("/documents/{id}/page", get(previews::first_page))
        .route("/documents/{id}/preview", get(previews::of_document))
        .route("/documents/{id}/scaled", get(scaled_pictures::of_document))
        .route("/documents/{id}/mail/{path}", get(attached_mails::page))
        .route("/documents/{id}/mail/{path}/html", get(attached_mails::html))
        .route("/documents/{id}/mail/{path}/files/{number}", get(attached_mails::file))
        .route("/documents/{id}/mail/{path}/pictures/{number}", get(attached_mails::picture))
        .route(
            "/documents/{id}/mail/{path}/html/pictures/{number}",
            get(attached_mails::frame_picture),
        )
        .route(
            "/documents/{id}/mail/{path}/html/pictures/remote/{number}",
            get(attached_mails::remote_picture),
        )
        .route("/documents/{id}/correct", post(documents::correct))
        .route("/requests/{id}/close", post(document_requests::close))
        .route("/requests/{id}/reopen", post(document_requests::reopen))
        .route("/requests/{id}/revoke", post(document_requests::revoke))
        .route("/messages/{id}/stop", post(scheduled::stop))
        .route("/messages/{id}/now", post(scheduled::send_now))
        .route("/messages/{id}/revoke", post(secure_text::revoke))
        .route("/messages/{id}/extend", post(secure_text::extend))
        .route("/messages/{id}/new-link", post(secure_text::send_again))
        .route("/leaving", get(scheduled::page))
        .route("/leaving/stop-agents", post(scheduled::stop_agents))
        .route("/leaving/bookings/{id}/stop", post(scheduled::stop_booking))
        .route("/mentions", get(mentions::page))
        .route("/mentions/read", post(mentions::read_all))
        .route("/approvals", get(approvals::first))
        .route("/approvals/{id}", get(approvals::page))
        .route("/approvals/{id}/approve", post(approvals::approve))
        .route("/approvals/{id}/save", post(approvals::save))
        .route("/approvals/{id}/discard", post(approvals::discard))
        .merge(others)
        .route("/calendar", get(calendar_page::page))
        .route("/calendar/feed/{token}", get(calendar_page::feed))
        .route("/calendar/{id}", get(calendar_page::booking))
        .route("/calendar/{id}/move", post(calendar_page::reschedule))
        .route("/calendar/{id}/cancel", post(calendar_page::cancel))
        .merge(upload::router())
        .merge(secure_pages::router())
        .merge(booking::router())
        .merge(guest::rating::router())
        .fallback(responses::nothing_here)
        .method_not_allowed_fallback(responses::not_this_way)
        .layer(from_fn(guest::refusals::show_to_guests))
        .layer(from_fn_with_state(Arc::clone(&web), first_run::lead))
        .layer(from_fn_with_state(Arc::clone(&web), forms::interrupted::keep))
        .layer(from_fn_with_state(Arc::clone(&web), compression::compress))
        .layer(from_fn_with_state(Arc::clone(&web), reader::speak))
        .layer(from_fn_with_state(Arc::clone(&web), log::log))
        .with_state(web)
}
