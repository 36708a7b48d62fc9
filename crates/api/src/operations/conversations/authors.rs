//! Who did what a timeline tells: a person, an agent, the customer or Mailroom itself.

use std::collections::HashMap;

use base::error::Result;
use base::ids::{AgentId, MemberId, UserId};
use db::Tx;
use model::people::members;

use crate::conversation_json::{AuthorJson, AuthorType};

/// Names that were looked up.
pub(crate) struct Authors {
    ws: i64,
    names: HashMap<String, Option<String>>,
    /// Members of events that tell only a name, as those of older versions do.
    by_name: HashMap<String, Option<MemberId>>,
}

impl Authors {
    pub fn new(ws: i64) -> Authors {
        Authors { ws, names: HashMap::new(), by_name: HashMap::new() }
    }

    /// A member by the id that a row has, with the name that they have now, or had when it was written.
    pub fn member(&mut self, tx: &mut Tx<'_>, id: &str, name: &str) -> Result<Option<AuthorJson>> {
        let Some(id) = MemberId::parse(id) else { return Ok(None) };
        let known = match self.names.get(id.as_str()) {
            Some(known) => known.clone(),
            None => {
                let found = members::find_name(tx, self.ws, &id)?.map(|member| member.name);
                self.names.insert(id.as_str().to_owned(), found.clone());
                found
            }
        };
        let name = known.unwrap_or_else(|| name.to_owned());
        Ok(Some(AuthorJson::member(&id, name)))
    }

    /// Who did what an event tells. Rules and Mailroom itself have no id; what an older version wrote has
    /// only a name.
    pub fn of_event(
        &mut self,
        tx: &mut Tx<'_>,
        id: Option<&str>,
        name: &str,
    ) -> Result<AuthorJson> {
        let found = match id {
            Some(id) => self.member(tx, id, name)?,
            None => {
                let member = self.with_name(tx, name)?;
                member.map(|id| AuthorJson::member(&id, name.to_owned()))
            }
        };
        Ok(found.unwrap_or_else(|| AuthorJson::system(name)))
    }

    /// An agent rather than a person, where both have the name: a person is never named in place of one.
    fn with_name(&mut self, tx: &mut Tx<'_>, name: &str) -> Result<Option<MemberId>> {
        if let Some(known) = self.by_name.get(name) {
            return Ok(known.clone());
        }
        let agent: Option<(AgentId,)> = tx
            .opt("SELECT id FROM agents WHERE ws = ?1 AND name = ?2 LIMIT 1", &[&self.ws, &name])?;
        let found = match agent {
            Some((id,)) => Some(MemberId::Agent(id)),
            None => {
                let person: Option<(UserId,)> = tx.opt(
                    "SELECT id FROM users WHERE ws = ?1 AND name = ?2 LIMIT 1",
                    &[&self.ws, &name],
                )?;
                person.map(|(id,)| MemberId::User(id))
            }
        };
        self.by_name.insert(name.to_owned(), found.clone());
        Ok(found)
    }
}

impl AuthorJson {
    fn member(id: &MemberId, name: String) -> AuthorJson {
        let author_type = match id {
            MemberId::User(_) => AuthorType::Person,
            MemberId::Agent(_) => AuthorType::Agent,
        };
        AuthorJson { author_type, name, id: Some(id.as_str().to_owned()) }
    }

    pub fn system(name: &str) -> AuthorJson {
        AuthorJson { author_type: AuthorType::System, name: name.to_owned(), id: None }
    }

    pub fn customer(name: String) -> AuthorJson {
        AuthorJson { author_type: AuthorType::Customer, name, id: None }
    }

    /// Somebody who wrote with a mail program, or before their mail was imported.
    pub fn person(name: String) -> AuthorJson {
        AuthorJson { author_type: AuthorType::Person, name, id: None }
    }
}
