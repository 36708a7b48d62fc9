//! Quiet mode as people see it.

use node::quiet::QUIET_SENTENCE;

use crate::support::{TestApp, on_both};

on_both!(every_page_of_a_quiet_server_says_so);

async fn every_page_of_a_quiet_server_says_so(app: TestApp) {
    let mut app = app;
    app.signed_in(&app.owner).await.get("/inbox").await.is(200).hides(QUIET_SENTENCE);
    app.set_quiet(true);
    let browser = app.signed_in(&app.owner).await;
    for page in ["/inbox", "/settings/people", "/leaving"] {
        browser.get(page).await.is(200).shows(QUIET_SENTENCE);
    }
}
