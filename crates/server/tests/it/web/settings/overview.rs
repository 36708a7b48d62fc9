//! The groups of the settings: what each reader may open, and how it is found.

use std::collections::BTreeSet;

use crate::support::*;

on_both!(
    every_page_of_the_settings_has_one_name_and_one_place,
    an_overview_has_what_its_reader_may_open,
    under_an_entry_stands_what_is_set_now,
    settings_are_found_by_names_by_what_they_hold_and_by_other_words,
    settings_are_found_in_the_language_of_the_reader,
    the_team_is_listed_with_what_each_looks_after_and_how_they_sign_in
);

/// Address and title of each page on an overview.
fn entries(overview: &str) -> Vec<(String, String)> {
    let links = overview.split("<a href=\"").skip(1);
    let entry = |link: &str| {
        let (href, rest) = link.split_once("\">")?;
        Some((href.to_owned(), rest.split_once("<span>")?.0.to_owned()))
    };
    links.filter_map(entry).collect()
}

async fn every_page_of_the_settings_has_one_name_and_one_place(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get("/settings").await.is(200);
    let overview = page.between("id=\"all-settings\"", "data-finds-nothing");
    let entries = entries(overview);
    assert!(entries.len() > 25, "{entries:?}");
    let hrefs: BTreeSet<_> = entries.iter().map(|(href, _)| href).collect();
    let groups = overview.split("<h2>").skip(1).filter_map(|rest| rest.split('<').next());
    let groups: Vec<_> = groups.map(str::to_owned).collect();
    assert_eq!(groups.len(), 7, "{groups:?}");
    let names: BTreeSet<_> = entries.iter().map(|(_, title)| title).chain(&groups).collect();
    assert_eq!(hrefs.len(), entries.len(), "{entries:?}");
    assert_eq!(names.len(), entries.len() + groups.len(), "{entries:?} {groups:?}");
    for (href, title) in &entries {
        let page = owner.get(href).await.is(200);
        page.shows(&format!("<title>{title} · Mailroom</title>"));
        page.shows(&format!("<a href=\"{href}\" aria-current=\"page\">{title}</a>"));
        assert_eq!(page.text.matches("class=\"sub-group\" open").count(), 1, "{href}");
    }
}

async fn an_overview_has_what_its_reader_may_open(app: TestApp) {
    let bo = app.person("Bo").await;
    let (owner, member) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    let of_owner = owner.get("/settings").await.is(200);
    let of_member = member.get("/settings").await.is(200);
    let all = entries(of_owner.between("id=\"all-settings\"", "data-finds-nothing"));
    let own = entries(of_member.between("id=\"all-settings\"", "data-finds-nothing"));
    assert!(own.len() > 8 && own.len() < all.len(), "{own:?}");
    for (href, title) in &all {
        let is_open = own.iter().any(|(known, _)| known == href);
        member.get(href).await.is(if is_open { 200 } else { 403 });
        let path = format!("/settings?{}", query(&[("q", title.as_str())]));
        let link = format!("<a href=\"{href}\">");
        owner.get(&path).await.is(200).shows(&link);
        if !is_open {
            member.get(&path).await.is(200).hides(&link);
        }
    }
    let nothing = member.get("/settings?q=webhooks").await.is(200);
    nothing.shows("<h3>Nothing in the settings is called that.</h3>").hides("class=\"set-hits\"");
}

async fn under_an_entry_stands_what_is_set_now(app: TestApp) {
    let bo = app.person("Bo").await;
    let inbox = app.private_inbox(&bo).await;
    let (owner, member) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    let about = "\"/settings/helpers\">Topics and sorting<span>";
    assert!(owner.get("/settings").await.between(about, "<").starts_with("Topics · Urgency"));
    for name in ["Colours", "Delivery", "Parts", "Refunds", "Returns"] {
        app.topic(name, "").await;
    }
    let page = owner.get("/settings").await.is(200);
    assert_eq!(page.between(about, "<"), "Colours, Delivery, Parts and 2 more");
    let inboxes = "\"/settings/inboxes\">Inboxes<span>";
    assert!(!page.between(inboxes, "<").contains(&inbox.name), "{}", inbox.name);
    let page = member.get("/settings").await.is(200);
    assert!(page.between(inboxes, "<").contains(&inbox.name), "{}", inbox.name);
}

async fn settings_are_found_by_names_by_what_they_hold_and_by_other_words(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    for (q, hit) in [
        ("WEBHOOKS", "\"/settings/webhooks\">Webhooks<span>Agents and developers</span>"),
        ("quiet hours", "\"/settings/notifications\">Quiet hours<span>You, Notifications</span>"),
        ("undo", "\"/settings/writing\">Writing<span>You</span>"),
        ("vacation", "\"/settings/bookings\">Bookings<span>Customers’ pages</span>"),
        ("rich signatures", "\"/settings/writing\">Writing<span>You</span>"),
        ("hours targets", "\"/settings/rules\">Targets<span>Helpers and rules, Rules and hours"),
    ] {
        let page = owner.get(&format!("/settings?{}", query(&[("q", q)]))).await.is(200);
        let hits = page.between("<ul class=\"set-hits\">", "</ul>");
        assert!(hits.contains(hit), "{q}: {hits}");
    }
    let refused = owner.get(&format!("/settings?{}", query(&[("q", "<i>")]))).await.is(200);
    refused.shows("“&#60;i&#62;” in the settings").hides("class=\"set-hits\"");
    let long = "x".repeat(300);
    owner.get(&format!("/settings?q={long}")).await.is(200).hides(&long);
    owner.get("/settings?q=+").await.is(200).shows("id=\"all-settings\"");
}

async fn settings_are_found_in_the_language_of_the_reader(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    owner.post("/settings/you/language", &[("language", "de")]).await.is(303);
    let page = owner.get("/settings?q=urlaub").await.is(200);
    let hits = page.between("<ul class=\"set-hits\">", "</ul>");
    assert!(hits.contains("href=\"/settings/bookings\""), "{hits}");
}

async fn the_team_is_listed_with_what_each_looks_after_and_how_they_sign_in(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let fields = [("name", "Ann Ames"), ("email", "ann@acme.example"), ("role", "member")];
    let page = owner.post("/settings/people", &fields).await.is(200);
    let link =
        page.between("role=\"group\" aria-label=\"Sign-in link for Ann Ames\">", "<").to_owned();
    let row = async || {
        let page = owner.get("/settings/people").await.is(200);
        page.between("ann@acme.example</small>", "</tr>").to_owned()
    };
    assert!(row().await.contains("Invited"));
    let ann = app.browser();
    ann.post(link.strip_prefix(PUBLIC_URL).unwrap(), &[]).await.goes_to("/");
    ann.remember_csrf().await;
    assert!(row().await.contains("Link alone"));
    ann.post("/settings/you/duty", &[("duty", "Refunds, mornings")]).await.is(303);
    assert!(row().await.contains("Refunds, mornings"));
    let page = ann.get("/settings/people").await.is(200);
    page.shows("Refunds, mornings").hides("Link alone").hides("/role\"");
}
