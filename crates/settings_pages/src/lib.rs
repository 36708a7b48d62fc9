//! Settings: yourself, people, inboxes, tags, keys, webhooks, the plan.

mod access;
mod apps;
mod audit;
mod blocked;
mod booking_preview;
mod booking_type;
mod booking_why;
mod bookings;
mod connect;
mod connect_fields;
mod data;
mod deletion;
mod drafting;
mod helpers;
mod holidays;
mod hours;
mod inbox;
mod inboxes;
mod incoming_mail;
mod keys;
mod notifications;
mod outgoing;
mod people;
mod plan;
mod plus_tags;
mod provider_link;
mod provider_sign_in;
mod queues;
mod records;
mod records_view;
mod replies;
mod rules;
mod secure;
mod server_form;
mod services;
mod sign_in;
mod tags;
mod teams;
mod type_fields;
mod webhook;
mod webhooks;
mod welcome;
mod writing;
mod you;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use translation::msg;
use transport::mail_oauth::CALLBACK;
use transport::oidc::OIDC_CALLBACK;
use web::Web;
use web::layout::page_layout::{MenuEntry, PageLocation};
use web::layout::responses::{PageResult, see_other};
use web::pages::passkeys;

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
        .route("/settings/you", get(you::page))
        .route("/settings/you/password", post(you::set_password))
        .route("/settings/you/private", post(you::open_private))
        .route("/settings/you/duty", post(you::set_duty))
        .route("/settings/you/language", post(you::choose_language))
        .route("/settings/you/pictures", post(you::remove_picture_sender))
        .route("/settings/you/sessions/{id}/end", post(you::end_session))
        .route("/settings/you/sessions/end-others", post(you::end_others))
        .route("/settings/sign-in", get(sign_in::page))
        .route("/settings/sign-in/totp", post(sign_in::begin_totp))
        .route("/settings/sign-in/totp/confirm", post(sign_in::confirm_totp))
        .route("/settings/sign-in/totp/off", post(sign_in::switch_totp_off))
        .route("/settings/sign-in/codes", post(sign_in::renew_codes))
        .route("/settings/sign-in/passkeys", post(sign_in::add_passkey))
        .route("/settings/sign-in/passkeys/challenge", post(passkeys::new_challenge))
        .route("/settings/sign-in/passkeys/{id}/rename", post(sign_in::rename_passkey))
        .route("/settings/sign-in/passkeys/{id}/remove", post(sign_in::remove_passkey))
        .route("/settings/notifications", get(notifications::page).post(notifications::choose))
        .route("/settings/notifications/how", post(notifications::set_how))
        .route("/settings/notifications/test", post(notifications::send_test))
        .route("/settings/notifications/key", post(notifications::public_key))
        .route("/settings/notifications/browsers", post(notifications::subscribe))
        .route("/settings/notifications/browsers/{id}/remove", post(notifications::remove))
        .route(
            "/settings/notifications/inboxes/{mailbox}",
            get(notifications::inbox_page).post(notifications::choose_for_inbox),
        )
        .route("/settings/sign-in/totp/replace", post(sign_in::replace_totp))
        .route("/settings/sign-in/provider", post(provider_link::begin))
        .route("/settings/sign-in/provider/unlink", post(provider_link::unlink))
        .route(OIDC_CALLBACK, get(provider_link::callback))
        .route("/settings/writing", get(writing::page))
        .route("/settings/writing/format", post(writing::choose_format))
        .route("/settings/writing/signature", post(writing::set_own_signature))
        .route("/settings/writing/{mailbox}", post(writing::set_inbox_signature))
        .route("/settings/people", get(people::page).post(people::add))
        .route("/settings/people/{id}/role", post(people::set_role))
        .route("/settings/people/two-steps", post(sign_in::set_two_steps))
        .route("/settings/people/{id}/reset-sign-in", post(sign_in::reset))
        .route("/settings/people/{id}/link", post(people::link))
        .route("/settings/people/{id}/remove", get(people::ask).post(people::remove))
        .route("/settings/teams", get(teams::page).post(teams::add))
        .route("/settings/teams/{team}", get(teams::edit_page).post(teams::change))
        .route("/settings/teams/{team}/remove", post(teams::remove))
        .route("/settings/inboxes", get(inboxes::page).post(inboxes::add))
        .route("/settings/inboxes/connect", get(connect::page).post(connect::connect))
        .route(CALLBACK, get(provider_sign_in::callback))
        .route("/settings/inboxes/connect/{provider}", post(provider_sign_in::begin))
        .route("/settings/inboxes/{mailbox}/sign-in", post(provider_sign_in::begin_again))
        .route("/settings/inboxes/{mailbox}/disconnect", post(connect::disconnect))
        .route("/settings/inboxes/{mailbox}", get(inbox::page).post(inbox::rename))
        .route("/settings/inboxes/{mailbox}/access", get(access::page).post(access::save))
        .route(
            "/settings/inboxes/{mailbox}/delete",
            get(deletion::ask_inbox).post(deletion::delete_inbox),
        )
        .route(
            "/settings/inboxes/{mailbox}/retention",
            get(deletion::retention_page).post(deletion::set_retention),
        )
        .route(
            "/settings/data/delete",
            get(deletion::ask_workspace).post(deletion::delete_workspace),
        )
        .route("/settings/inboxes/{mailbox}/records", post(records::look))
        .route("/settings/inboxes/{mailbox}/signing-key", post(records::make_key))
        .route(
            "/settings/inboxes/{mailbox}/outgoing",
            get(outgoing::page_of_inbox).post(outgoing::save_for_inbox),
        )
        .route("/settings/inboxes/{mailbox}/outgoing/remove", post(outgoing::remove_for_inbox))
        .route("/settings/inboxes/{mailbox}/plus-tags", post(plus_tags::decide))
        .route("/settings/inboxes/{mailbox}/test-mail", post(outgoing::send_test))
        .route("/settings/outgoing", get(outgoing::page_of_all).post(outgoing::save_for_all))
        .route("/settings/outgoing/remove", post(outgoing::remove_for_all))
        .route("/settings/tags", get(tags::page))
        .route("/settings/tags/{tag}/rename", post(tags::rename))
        .route("/settings/blocked", get(blocked::page).post(blocked::unblock))
        .route("/settings/you/following", post(you::choose_following))
        .route("/settings/replies", get(replies::page).post(replies::add))
        .route("/settings/replies/{id}", get(replies::edit_page).post(replies::change))
        .route("/settings/replies/{id}/delete", post(replies::delete))
        .route("/settings/rules", get(rules::page).post(rules::add))
        .route("/settings/rules/{rule}", get(rules::edit_page).post(rules::change))
        .route("/settings/rules/{rule}/switch", post(rules::switch))
        .route("/settings/rules/{rule}/move", post(rules::shift))
        .route("/settings/rules/{rule}/delete", post(rules::delete))
        .route("/settings/hours/{mailbox}", get(hours::page).post(hours::save))
        .route("/settings/drafting", get(drafting::page))
        .route("/settings/drafting/{mailbox}", post(drafting::set))
        .route("/settings/drafting/{mailbox}/model", get(drafting::model_page))
        .route("/settings/helpers", get(helpers::page))
        .route("/settings/helpers/topics", post(helpers::add))
        .route("/settings/helpers/topics/{topic}", get(helpers::edit_page).post(helpers::change))
        .route("/settings/helpers/topics/{topic}/remove", post(helpers::remove))
        .route("/settings/helpers/tags", post(helpers::make_of_tags))
        .route("/settings/helpers/forget", post(helpers::forget))
        .route("/settings/bookings", get(bookings::page))
        .route("/settings/bookings/hours", post(bookings::set_hours))
        .route("/settings/bookings/dates", post(bookings::set_date))
        .route("/settings/bookings/dates/{date}", post(bookings::remove_date))
        .route("/settings/bookings/stays", post(bookings::set_stay))
        .route("/settings/bookings/stays/{first}", post(bookings::remove_stay))
        .route("/settings/bookings/calendars", post(bookings::add_calendar))
        .route("/settings/bookings/calendars/{id}", post(bookings::remove_calendar))
        .route("/settings/bookings/feed", post(bookings::make_feed))
        .route("/settings/bookings/types", post(bookings::add_type))
        .route("/settings/bookings/types/{id}", get(booking_type::page).post(booking_type::change))
        .route("/settings/secure", get(secure::page).post(secure::save))
        .route("/settings/keys", get(keys::page).post(keys::make))
        .route("/settings/keys/{id}/revoke", post(keys::revoke))
        .route("/settings/apps", get(apps::page))
        .route("/settings/apps/rule", post(apps::set_rule))
        .route("/settings/apps/{id}/scopes", post(apps::change_scopes))
        .route("/settings/apps/{id}/disconnect", post(apps::disconnect))
        .route("/settings/webhooks", get(webhooks::page).post(webhooks::add))
        .route("/settings/webhooks/{webhook}", get(webhook::page))
        .route("/settings/webhooks/{webhook}/rotate", post(webhook::rotate))
        .route("/settings/webhooks/{webhook}/events", post(webhook::choose_events))
        .route("/settings/webhooks/{webhook}/pause", post(webhook::pause))
        .route("/settings/webhooks/{webhook}/resume", post(webhook::resume))
        .route("/settings/webhooks/{webhook}/test", post(webhook::test))
        .route("/settings/webhooks/{webhook}/delete", post(webhook::delete))
        .route("/settings/webhooks/{webhook}/events/{event}/again", post(webhook::again))
        .route("/settings/services", get(services::page).post(services::add))
        .route("/settings/services/{id}/secret", post(services::set_secret))
        .route("/settings/services/{id}/remove", post(services::remove))
        .route("/settings/queues", get(queues::page).post(queues::change))
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
