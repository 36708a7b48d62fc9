//! Settings: yourself, people, inboxes, tags, keys, webhooks, the plan.

mod audit;
mod blocked;
mod booking_types;
mod data;
mod inboxes;
mod integrations;
mod people_pages;
mod plan;
mod replies;
mod rules;
mod tags;
mod welcome;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use translation::msg;
use transport::mail_oauth::CALLBACK;
use transport::oidc::OIDC_CALLBACK;
use web::Web;
use web::layout::page_layout::{MenuEntry, PageLocation};
use web::layout::responses::{PageResult, see_other};
use web::pages::signing_in::passkeys;

macro_rules! menu {
    ($($page:ident: $title:expr, $href:literal, for_admins: $for_admins:literal;)*) => {
        /// An entry of the menu. A page below one, such as that of a single inbox, belongs to it.
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum SettingsPage {
            $($page),*
        }

        /// The menu as a page shows it.
        fn menu(current: SettingsPage) -> Vec<MenuEntry> {
            vec![$(MenuEntry {
                href: $href,
                title: $title,
                current: current == SettingsPage::$page,
                for_admins: $for_admins,
            }),*]
        }
    };
}

// Title, address, and whether the pages refuse everybody but owners and admins.
menu! {
    You: msg!("You"), "/settings/you", for_admins: false;
    SignIn: msg!("Signing in"), "/settings/sign-in", for_admins: false;
    Notifications: msg!("Notifications"), "/settings/notifications", for_admins: false;
    Writing: msg!("Writing"), "/settings/writing", for_admins: false;
    People: msg!("People"), "/settings/people", for_admins: false;
    Teams: msg!("Teams"), "/settings/teams", for_admins: true;
    Inboxes: msg!("Inboxes"), "/settings/inboxes", for_admins: false;
    Outgoing: msg!("Outgoing mail"), "/settings/outgoing", for_admins: true;
    Tags: msg!("Tags"), "/settings/tags", for_admins: false;
    Blocked: msg!("Blocked senders"), "/settings/blocked", for_admins: false;
    Replies: msg!("Saved replies"), "/settings/replies", for_admins: false;
    Rules: msg!("Rules and hours"), "/settings/rules", for_admins: false;
    Bookings: msg!("Bookings"), "/settings/bookings", for_admins: false;
    Helpers: msg!("Helpers"), "/settings/helpers", for_admins: false;
    Drafting: msg!("Drafting"), "/settings/drafting", for_admins: true;
    Secure: msg!("Protected messages"), "/settings/secure", for_admins: true;
    Keys: msg!("Agents and keys"), "/settings/keys", for_admins: true;
    Apps: msg!("Connected apps"), "/settings/apps", for_admins: false;
    Webhooks: msg!("Webhooks"), "/settings/webhooks", for_admins: true;
    Services: msg!("Sending services"), "/settings/services", for_admins: true;
    Queues: msg!("Queues"), "/settings/queues", for_admins: true;
    Data: msg!("Data"), "/settings/data", for_admins: true;
    Audit: msg!("Audit log"), "/settings/audit", for_admins: true;
    Plan: msg!("Plan"), "/settings/plan", for_admins: false;
}

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/welcome", get(welcome::page))
        .route("/welcome/over", post(welcome::end))
        .route("/settings", get(first))
        .route("/settings/you", get(people_pages::you::page))
        .route("/settings/you/password", post(people_pages::you::set_password))
        .route("/settings/you/private", post(people_pages::you::open_private))
        .route("/settings/you/duty", post(people_pages::you::set_duty))
        .route("/settings/you/language", post(people_pages::you::choose_language))
        .route("/settings/you/pictures", post(people_pages::you::remove_picture_sender))
        .route("/settings/you/sessions/{id}/end", post(people_pages::you::end_session))
        .route("/settings/you/sessions/end-others", post(people_pages::you::end_others))
        .route("/settings/sign-in", get(people_pages::sign_in::page))
        .route("/settings/sign-in/totp", post(people_pages::sign_in::begin_totp))
        .route("/settings/sign-in/totp/confirm", post(people_pages::sign_in::confirm_totp))
        .route("/settings/sign-in/totp/off", post(people_pages::sign_in::switch_totp_off))
        .route("/settings/sign-in/codes", post(people_pages::sign_in::renew_codes))
        .route("/settings/sign-in/passkeys", post(people_pages::sign_in::add_passkey))
        .route("/settings/sign-in/passkeys/challenge", post(passkeys::new_challenge))
        .route(
            "/settings/sign-in/passkeys/{id}/rename",
            post(people_pages::sign_in::rename_passkey),
        )
        .route(
            "/settings/sign-in/passkeys/{id}/remove",
            post(people_pages::sign_in::remove_passkey),
        )
        .route(
            "/settings/notifications",
            get(people_pages::notifications::page).post(people_pages::notifications::choose),
        )
        .route("/settings/notifications/how", post(people_pages::notifications::set_how))
        .route("/settings/notifications/test", post(people_pages::notifications::send_test))
        .route("/settings/notifications/key", post(people_pages::notifications::public_key))
        .route("/settings/notifications/browsers", post(people_pages::notifications::subscribe))
        .route(
            "/settings/notifications/browsers/{id}/remove",
            post(people_pages::notifications::remove),
        )
        .route(
            "/settings/notifications/inboxes/{mailbox}",
            get(people_pages::notifications::inbox_page)
                .post(people_pages::notifications::choose_for_inbox),
        )
        .route("/settings/sign-in/totp/replace", post(people_pages::sign_in::replace_totp))
        .route("/settings/sign-in/provider", post(people_pages::provider_link::begin))
        .route("/settings/sign-in/provider/unlink", post(people_pages::provider_link::unlink))
        .route(OIDC_CALLBACK, get(people_pages::provider_link::callback))
        .route("/settings/writing", get(inboxes::writing::page))
        .route("/settings/writing/format", post(inboxes::writing::choose_format))
        .route("/settings/writing/undo", post(inboxes::writing::choose_undo))
        .route("/settings/writing/sending", post(inboxes::writing::set_sending))
        .route("/settings/writing/signature", post(inboxes::writing::set_own_signature))
        .route("/settings/writing/{mailbox}", post(inboxes::writing::set_inbox_signature))
        .route("/settings/people", get(people_pages::people::page).post(people_pages::people::add))
        .route("/settings/people/{id}/role", post(people_pages::people::set_role))
        .route("/settings/people/two-steps", post(people_pages::sign_in::set_two_steps))
        .route("/settings/people/{id}/reset-sign-in", post(people_pages::sign_in::reset))
        .route("/settings/people/{id}/link", post(people_pages::people::link))
        .route(
            "/settings/people/{id}/remove",
            get(people_pages::people::ask).post(people_pages::people::remove),
        )
        .route("/settings/teams", get(people_pages::teams::page).post(people_pages::teams::add))
        .route(
            "/settings/teams/{team}",
            get(people_pages::teams::edit_page).post(people_pages::teams::change),
        )
        .route("/settings/teams/{team}/remove", post(people_pages::teams::remove))
        .route("/settings/inboxes", get(inboxes::page).post(inboxes::add))
        .route(
            "/settings/inboxes/connect",
            get(inboxes::connect::page).post(inboxes::connect::connect),
        )
        .route(CALLBACK, get(people_pages::provider_sign_in::callback))
        .route("/settings/inboxes/connect/{provider}", post(people_pages::provider_sign_in::begin))
        .route(
            "/settings/inboxes/{mailbox}/sign-in",
            post(people_pages::provider_sign_in::begin_again),
        )
        .route("/settings/inboxes/{mailbox}/disconnect", post(inboxes::connect::disconnect))
        .route(
            "/settings/inboxes/{mailbox}",
            get(inboxes::inbox::page).post(inboxes::inbox::rename),
        )
        .route(
            "/settings/inboxes/{mailbox}/access",
            get(inboxes::access::page).post(inboxes::access::save),
        )
        .route(
            "/settings/inboxes/{mailbox}/delete",
            get(inboxes::deletion::ask_inbox).post(inboxes::deletion::delete_inbox),
        )
        .route(
            "/settings/inboxes/{mailbox}/retention",
            get(inboxes::deletion::retention_page).post(inboxes::deletion::set_retention),
        )
        .route(
            "/settings/data/delete",
            get(inboxes::deletion::ask_workspace).post(inboxes::deletion::delete_workspace),
        )
        .route("/settings/inboxes/{mailbox}/records", post(inboxes::records::look))
        .route("/settings/inboxes/{mailbox}/signing-key", post(inboxes::records::make_key))
        .route(
            "/settings/inboxes/{mailbox}/outgoing",
            get(inboxes::outgoing::page_of_inbox).post(inboxes::outgoing::save_for_inbox),
        )
        .route(
            "/settings/inboxes/{mailbox}/outgoing/remove",
            post(inboxes::outgoing::remove_for_inbox),
        )
        .route("/settings/inboxes/{mailbox}/plus-tags", post(inboxes::plus_tags::decide))
        .route("/settings/inboxes/{mailbox}/test-mail", post(inboxes::outgoing::send_test))
        .route(
            "/settings/outgoing",
            get(inboxes::outgoing::page_of_all).post(inboxes::outgoing::save_for_all),
        )
        .route("/settings/outgoing/remove", post(inboxes::outgoing::remove_for_all))
        .route("/settings/tags", get(tags::page))
        .route("/settings/tags/{tag}/rename", post(tags::rename))
        .route("/settings/blocked", get(blocked::page).post(blocked::unblock))
        .route("/settings/you/following", post(people_pages::you::choose_following))
        .route("/settings/replies", get(replies::page).post(replies::add))
        .route("/settings/replies/{id}", get(replies::edit_page).post(replies::change))
        .route("/settings/replies/{id}/delete", post(replies::delete))
        .route("/settings/rules", get(rules::page).post(rules::add))
        .route("/settings/rules/{rule}", get(rules::edit_page).post(rules::change))
        .route("/settings/rules/{rule}/switch", post(rules::switch))
        .route("/settings/rules/{rule}/move", post(rules::shift))
        .route("/settings/rules/{rule}/delete", post(rules::delete))
        .route("/settings/hours/{mailbox}", get(inboxes::hours::page).post(inboxes::hours::save))
        .route("/settings/drafting", get(inboxes::drafting::page))
        .route("/settings/drafting/{mailbox}", post(inboxes::drafting::set))
        .route("/settings/drafting/{mailbox}/model", get(inboxes::drafting::model_page))
        .route("/settings/helpers", get(inboxes::helpers::page))
        .route("/settings/helpers/topics", post(inboxes::helpers::add))
        .route(
            "/settings/helpers/topics/{topic}",
            get(inboxes::helpers::edit_page).post(inboxes::helpers::change),
        )
        .route("/settings/helpers/topics/{topic}/remove", post(inboxes::helpers::remove))
        .route("/settings/helpers/tags", post(inboxes::helpers::make_of_tags))
        .route("/settings/helpers/forget", post(inboxes::helpers::forget))
        .route("/settings/bookings", get(booking_types::bookings::page))
        .route("/settings/bookings/hours", post(booking_types::bookings::set_hours))
        .route("/settings/bookings/dates", post(booking_types::bookings::set_date))
        .route("/settings/bookings/dates/{date}", post(booking_types::bookings::remove_date))
        .route("/settings/bookings/stays", post(booking_types::bookings::set_stay))
        .route("/settings/bookings/stays/{first}", post(booking_types::bookings::remove_stay))
        .route("/settings/bookings/calendars", post(booking_types::bookings::add_calendar))
        .route("/settings/bookings/calendars/{id}", post(booking_types::bookings::remove_calendar))
        .route("/settings/bookings/feed", post(booking_types::bookings::make_feed))
        .route("/settings/bookings/types", post(booking_types::bookings::add_type))
        .route(
            "/settings/bookings/types/{id}",
            get(booking_types::booking_type::page).post(booking_types::booking_type::change),
        )
        .route("/settings/secure", get(inboxes::secure::page).post(inboxes::secure::save))
        .route("/settings/keys", get(integrations::keys::page).post(integrations::keys::make))
        .route("/settings/keys/{id}/revoke", post(integrations::keys::revoke))
        .route("/settings/keys/{id}/activity", get(integrations::activity::page))
        .route("/settings/keys/{id}/activity.csv", get(integrations::activity::csv))
        .route("/settings/keys/{id}/undo", post(integrations::activity::undo))
        .route(
            "/settings/agents/{id}",
            get(integrations::agent::page).post(integrations::agent::change),
        )
        .route("/settings/agents/{id}/pause", post(integrations::agent::pause))
        .route("/settings/agents/{id}/resume", post(integrations::agent::resume))
        .route("/settings/apps", get(integrations::apps::page))
        .route("/settings/apps/rule", post(integrations::apps::set_rule))
        .route("/settings/apps/{id}/scopes", post(integrations::apps::change_scopes))
        .route("/settings/apps/{id}/disconnect", post(integrations::apps::disconnect))
        .route(
            "/settings/webhooks",
            get(integrations::webhooks::page).post(integrations::webhooks::add),
        )
        .route("/settings/webhooks/{webhook}", get(integrations::webhook::page))
        .route("/settings/webhooks/{webhook}/rotate", post(integrations::webhook::rotate))
        .route("/settings/webhooks/{webhook}/events", post(integrations::webhook::choose_events))
        .route("/settings/webhooks/{webhook}/pause", post(integrations::webhook::pause))
        .route("/settings/webhooks/{webhook}/resume", post(integrations::webhook::resume))
        .route("/settings/webhooks/{webhook}/test", post(integrations::webhook::test))
        .route("/settings/webhooks/{webhook}/delete", post(integrations::webhook::delete))
        .route(
            "/settings/webhooks/{webhook}/events/{event}/again",
            post(integrations::webhook::again),
        )
        .route(
            "/settings/services",
            get(integrations::services::page).post(integrations::services::add),
        )
        .route("/settings/services/{id}/secret", post(integrations::services::set_secret))
        .route("/settings/services/{id}/remove", post(integrations::services::remove))
        .route(
            "/settings/queues",
            get(integrations::queues::page).post(integrations::queues::change),
        )
        .route("/settings/data", get(data::page))
        .route("/settings/audit", get(audit::page))
        .route("/settings/plan", get(plan::page).post(plan::set))
}

async fn first() -> PageResult {
    Ok(see_other("/settings/you"))
}

/// A page of the settings, by its entry in the menu.
fn location(page: SettingsPage) -> PageLocation {
    let menu = menu(page);
    let title = menu.iter().find(|entry| entry.current).map_or("", MenuEntry::title);
    let place = PageLocation::at(title, "/settings");
    PageLocation { menu, ..place }
}
