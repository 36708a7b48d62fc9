//! Settings: yourself, people, inboxes, tags, keys, webhooks, the plan.

mod audit;
mod blocked;
mod booking_types;
mod branding;
mod contact_forms;
mod current_values;
mod data;
mod demo;
mod fields;
mod help_pages;
mod inboxes;
mod integrations;
mod overview;
mod people_pages;
mod plan;
mod replies;
mod report_settings;
mod rules;
mod samples;
mod tags;
mod welcome;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use transport::mail_oauth::CALLBACK;
use transport::oidc::OIDC_CALLBACK;
use web::Web;
use web::layout::settings_menu::{SettingsPage, location};
use web::pages::signing_in::passkeys;

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/welcome", get(welcome::page))
        .route("/welcome/over", post(welcome::end))
        .route("/settings", get(overview::page))
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
        .route("/settings/fields", get(fields::page).post(fields::add))
        .route("/settings/fields/{key}/remove", post(fields::remove))
        .route("/settings/reports", get(report_settings::page).post(report_settings::save))
        .route("/settings/reports/mail", post(report_settings::mail_now))
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
        .route("/settings/branding", get(branding::page).post(branding::save))
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
        .route("/settings/forms", get(contact_forms::page).post(contact_forms::add))
        .route("/settings/forms/{form}", get(contact_forms::edit_page).post(contact_forms::change))
        .route("/settings/forms/{form}/remove", post(contact_forms::remove))
        .route("/settings/help", get(help_pages::page).post(help_pages::save))
        .route("/settings/secure", get(inboxes::secure::page).post(inboxes::secure::save))
        .route(
            "/settings/customer-page",
            get(inboxes::customer_page::page).post(inboxes::customer_page::set),
        )
        .route("/settings/satisfaction", get(inboxes::satisfaction::page))
        .route("/settings/satisfaction/{mailbox}", post(inboxes::satisfaction::set))
        .route("/settings/keys", get(integrations::keys::page).post(integrations::keys::make))
        .route("/settings/keys/{id}/revoke", post(integrations::keys::revoke))
        .route("/settings/keys/{id}/activity", get(integrations::activity::page))
        .route("/settings/keys/{id}/activity.csv", get(integrations::activity::csv))
        .route("/settings/keys/{id}/activity.json", get(integrations::activity::json))
        .route("/settings/keys/{id}/undo", post(integrations::activity::undo))
        .route(
            "/settings/agents/{id}",
            get(integrations::agent::page).post(integrations::agent::change),
        )
        .route("/settings/agents/{id}/pause", post(integrations::agent::pause))
        .route("/settings/agents/{id}/resume", post(integrations::agent::resume))
        .route(
            "/settings/evals",
            get(integrations::test_cases::page).post(integrations::test_case::add),
        )
        .route("/settings/evals/new", get(integrations::test_case::new_page))
        .route("/settings/evals/run", post(integrations::test_cases::run))
        .route("/settings/evals/of-conversation", post(integrations::test_case::of_conversation))
        .route(
            "/settings/evals/{name}",
            get(integrations::test_case::page).post(integrations::test_case::change),
        )
        .route("/settings/evals/{name}/remove", post(integrations::test_case::remove))
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
        .route("/settings/panel", get(integrations::customer_panel::page))
        .route("/settings/panel/{kind}", post(integrations::customer_panel::save))
        .route("/settings/panel/{kind}/rotate", post(integrations::customer_panel::rotate))
        .route("/settings/panel/{kind}/remove", post(integrations::customer_panel::remove))
        .route(
            "/settings/linked-items",
            get(integrations::linked_items::page).post(integrations::linked_items::reopen),
        )
        .route("/settings/linked-items/{tracker}", post(integrations::linked_items::connect))
        .route(
            "/settings/linked-items/{tracker}/secret",
            post(integrations::linked_items::set_secret),
        )
        .route(
            "/settings/linked-items/{tracker}/disconnect",
            post(integrations::linked_items::disconnect),
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
        .route("/settings/data/sample", post(samples::make))
        .route("/settings/data/sample/enter", post(samples::enter))
        .route("/settings/data/sample/delete", post(samples::delete))
        .route("/sample/leave", post(samples::leave))
        .route("/demo", get(demo::page))
        .route("/demo/begin", post(demo::begin))
        .route("/robots.txt", get(demo::robots))
        .route("/settings/audit", get(audit::page))
        .route("/settings/plan", get(plan::page).post(plan::set))
}
