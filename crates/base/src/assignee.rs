//! A person or agent that a conversation is given to, with the name they are shown under.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::MemberId;
use crate::string_enum::string_enum;

string_enum! {
    MemberType { User = "user", Agent = "agent" }
}

/// Events and the timeline hold it as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignee {
    pub id: MemberId,
    pub name: String,
    #[serde(rename = "type")]
    pub member_type: MemberType,
}

impl Assignee {
    pub fn new(id: MemberId, name: String) -> Assignee {
        let member_type = match id {
            MemberId::User(_) => MemberType::User,
            MemberId::Agent(_) => MemberType::Agent,
        };
        Assignee { id, name, member_type }
    }
}

impl JsonSchema for Assignee {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Assignee".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "A person or agent that a conversation is given to.",
            "properties": {
                "id": { "type": "string", "pattern": "^(usr|agt)_[0-9a-z]+$" },
                "name": { "type": "string" },
                "type": { "type": "string", "enum": ["user", "agent"] }
            },
            "required": ["id", "name", "type"]
        })
    }
}
