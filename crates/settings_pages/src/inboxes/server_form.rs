//! The fields of a form that names an outgoing server.

use actions::inboxes::outgoing_servers::OutgoingServerListing;
use base::error::ValidationErrors;
use translation::{sentence, t};
use web::forms::form::form;

form! {
    pub struct ServerForm {
        host: String,
        port: Option<i64>,
        security: String,
        username: String,
        password: String,
    }
}

/// Why a server cannot be used, as a part of a sentence.
pub fn reason(last_error: &str) -> String {
    sentence(last_error.trim_start_matches("relay: ")).trim_end_matches('.').to_owned()
}

/// The form as a page shows it, with what is wrong with each field.
pub struct ServerFields {
    pub host: String,
    pub port: String,
    pub security: String,
    pub username: String,
    pub host_error: String,
    pub port_error: String,
    pub security_error: String,
    pub username_error: String,
    pub password_error: String,
}

impl Default for ServerFields {
    fn default() -> ServerFields {
        ServerFields {
            host: String::new(),
            port: "465".into(),
            security: "tls".into(),
            username: String::new(),
            host_error: String::new(),
            port_error: String::new(),
            security_error: String::new(),
            username_error: String::new(),
            password_error: String::new(),
        }
    }
}

impl ServerFields {
    pub fn of(listed: &OutgoingServerListing) -> ServerFields {
        ServerFields {
            host: listed.host.clone(),
            port: listed.port.to_string(),
            security: listed.security.as_str().into(),
            username: listed.username.clone(),
            ..ServerFields::default()
        }
    }

    /// What was typed in; a password is not shown again.
    pub fn from_form(form: &ServerForm) -> ServerFields {
        ServerFields {
            host: form.host.clone(),
            port: form.port.map(|port| port.to_string()).unwrap_or_default(),
            security: form.security.clone(),
            username: form.username.clone(),
            ..ServerFields::default()
        }
    }

    pub fn with(mut self, problems: &ValidationErrors) -> ServerFields {
        for problem in &problems.0 {
            let rule = sentence(&problem.sentence);
            match problem.field.as_str() {
                "port" => self.port_error = t!("The port {rule}.", rule),
                "security" => self.security_error = t!("The encryption {rule}.", rule),
                "username" => self.username_error = t!("The user name {rule}.", rule),
                "password" => self.password_error = t!("The password {rule}.", rule),
                _ => self.host_error = t!("The server {rule}.", rule),
            }
        }
        self
    }
}
