//! Values of the domain that forms have.

use actions::inboxes::office_hours::OfficeHoursInput;
use actions::people::notifications::NoticeSettingsInput;
use actions::writing::answers::AnswerInput;
use actions::writing::saved_replies::SavedReplyInput;
use actions::writing::seen::SeenConversation;
use base::actor::{Plan, Role};
use base::error::Error;
use base::ids::UserId;
use base::security::scopes::Scope;
use model::guests::satisfaction::SatisfactionMode;
use model::mailboxes::DraftingMode;
use outbound::services::Service;

use crate::forms::form::{FormFields, FormValue, form_input};

form_input! { OfficeHoursInput {
    weekly, zone, holidays, place, away_reply = "reply", answer, answer_urgent, resolve,
    resolve_urgent,
} }

form_input! { NoticeSettingsInput {
    shows_names = "names", digest, digest_time, zone, quiet, quiet_from, quiet_to, quiet_days,
    approves_by_mail = "approve",
} }

form_input! { SavedReplyInput { name, folder, body } }

form_input! { AnswerInput {
    title, body, language, inboxes, valid_until, audience, help_state, help_body, section, slug, look_at,
    original,
} }

impl FormValue for Service {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Service> {
        Service::parse(&fields.get(name)).ok_or_else(|| Error::invalid(name, "Choose a service."))
    }
}

impl FormValue for DraftingMode {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<DraftingMode> {
        DraftingMode::parse(&fields.get(name))
            .ok_or_else(|| Error::invalid(name, "Choose off, answers or model."))
    }
}

impl FormValue for SatisfactionMode {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<SatisfactionMode> {
        SatisfactionMode::parse(&fields.get(name))
            .ok_or_else(|| Error::invalid(name, "Choose off, two or five."))
    }
}

/// Nothing was seen where the field is missing.
impl FormValue for SeenConversation {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<SeenConversation> {
        Ok(SeenConversation { next_number: fields.get(name).parse().unwrap_or(0) })
    }
}

/// `None` for the whole team.
impl FormValue for Option<UserId> {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Option<UserId>> {
        let id = fields.opt(name);
        id.map(|id| UserId::parse(&id).ok_or(Error::NotFound("person"))).transpose()
    }
}

impl FormValue for Vec<Scope> {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Vec<Scope>> {
        let scope = |word: &String| {
            Scope::parse(word)
                .ok_or_else(|| Error::invalid(name, "Choose among the scopes of the page."))
        };
        fields.all(name).iter().map(scope).collect()
    }
}

impl FormValue for Plan {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Plan> {
        Plan::parse(&fields.get(name))
            .ok_or_else(|| Error::invalid(name, "Choose free, pro or team."))
    }
}

impl FormValue for Role {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Role> {
        Role::parse(&fields.get(name))
            .ok_or_else(|| Error::invalid(name, "Choose owner, admin or member."))
    }
}
