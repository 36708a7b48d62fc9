//! A person or agent that a conversation is given to, with the name they are shown under.

use serde::{Deserialize, Serialize};

use crate::base::ids::MemberId;
use crate::base::string_enum::string_enum;

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
