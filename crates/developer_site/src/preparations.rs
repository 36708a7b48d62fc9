//! What the example of an operation needs: things of the sandbox, which other operations make or find
//! first. So each example works as it stands with a new test key.

use api::operations::{Operation, find_by_name};

use super::clients::camel_case;
use super::examples::{ExampleRequest, object};

/// Seconds between two looks.
const LOOKS_EVERY: u32 = 2;

/// A call before the example. Texts such as `$CONVERSATION` are what an earlier call kept.
struct Preparation {
    operation: &'static str,
    /// The id in the path, or empty.
    id: &'static str,
    /// As JSON.
    input: &'static str,
    outcome: Kept,
}

/// What becomes of an answer.
enum Kept {
    Nothing,
    /// The member of the answer, or of its first item, in the variable.
    Member(&'static str, &'static str),
    /// The same of a member that is null in other answers.
    NullableMember(&'static str, &'static str),
    /// The same, once there is an item.
    MemberOnceThere(&'static str, &'static str),
    /// It is asked again until there are no items.
    UntilNone,
}

const CONVERSATION: Preparation = Preparation {
    operation: "sandbox_inbound",
    id: "",
    input: r#"{ "from": "mara@studio.test", "text": "The lamp is broken." }"#,
    outcome: Kept::Member("$CONVERSATION", "conversationId"),
};
const OTHER_CONVERSATION: Preparation = Preparation {
    operation: "sandbox_inbound",
    id: "",
    input: r#"{ "from": "mara@studio.test", "text": "And it is the wrong one." }"#,
    outcome: Kept::Member("$OTHER", "conversationId"),
};
const CUSTOMER: Preparation = Preparation {
    operation: "sandbox_inbound",
    id: "",
    input: r#"{ "from": "mara@studio.test", "text": "The lamp is broken." }"#,
    outcome: Kept::Nothing,
};
const SECOND_MESSAGE: Preparation = Preparation {
    operation: "sandbox_inbound",
    id: "",
    input: r#"{
        "from": "mara@studio.test",
        "text": "Do you sell chairs, too?",
        "conversationId": "$CONVERSATION"
    }"#,
    outcome: Kept::Member("$MESSAGE", "messageId"),
};
const DRAFT: Preparation = Preparation {
    operation: "reply",
    id: "$CONVERSATION",
    input: r#"{ "body": "It is on its way." }"#,
    outcome: Kept::Member("$DRAFT", "messageId"),
};
const SCHEDULED: Preparation = Preparation {
    operation: "reply",
    id: "$CONVERSATION",
    input: r#"{ "body": "It is on its way.", "send": true }"#,
    outcome: Kept::Member("$MESSAGE", "messageId"),
};
const PROTECTED: Preparation = Preparation {
    operation: "reply",
    id: "$CONVERSATION",
    input: r#"{ "body": "The code is 4711.", "secure": true, "send": true }"#,
    outcome: Kept::Member("$MESSAGE", "messageId"),
};
const ALL_HAVE_LEFT: Preparation = Preparation {
    operation: "list_messages",
    id: "",
    input: r#"{ "status": "scheduled" }"#,
    outcome: Kept::UntilNone,
};
const SENDER_OF_DOCUMENTS: Preparation = Preparation {
    operation: "sandbox_inbound",
    id: "",
    input: r#"{ "from": "docs@studio.test", "text": "Which invoice do you need?" }"#,
    outcome: Kept::Member("$CONVERSATION", "conversationId"),
};
const ASKS_FOR_DOCUMENT: Preparation = Preparation {
    operation: "reply",
    id: "$CONVERSATION",
    input: r#"{ "body": "The one of March, please.", "send": true }"#,
    outcome: Kept::Nothing,
};
const DOCUMENT: Preparation = Preparation {
    operation: "search_documents",
    id: "",
    input: r#"{ "limit": 1 }"#,
    outcome: Kept::MemberOnceThere("$DOCUMENT", "id"),
};
const ACT: Preparation = Preparation {
    operation: "update_conversations",
    id: "",
    input: r#"{ "ids": ["$CONVERSATION"], "status": "closed" }"#,
    outcome: Kept::NullableMember("$UNDO", "undoId"),
};
const LINK: Preparation = Preparation {
    operation: "link_item",
    id: "$CONVERSATION",
    input: r#"{ "url": "https://github.com/acme/shop/issues/12" }"#,
    outcome: Kept::Member("$LINK", "id"),
};
const MAILBOX: Preparation = Preparation {
    operation: "list_mailboxes",
    id: "",
    input: "{}",
    outcome: Kept::Member("$MAILBOX", "id"),
};
const BOOKING_TYPE: Preparation = Preparation {
    operation: "list_booking_types",
    id: "",
    input: "{}",
    outcome: Kept::Member("$BOOKING_TYPE", "id"),
};
const FREE_TIME: Preparation = Preparation {
    operation: "find_slots",
    id: "$BOOKING_TYPE",
    input: r#"{ "limit": 1 }"#,
    outcome: Kept::Member("$STARTS_AT", "startsAt"),
};
const BOOKING: Preparation = Preparation {
    operation: "create_booking",
    id: "",
    input: r#"{
        "typeId": "$BOOKING_TYPE",
        "startsAt": "$STARTS_AT",
        "name": "Mara Lind",
        "email": "mara@studio.test"
    }"#,
    outcome: Kept::Member("$BOOKING", "id"),
};
const NEXT_FREE_TIME: Preparation = Preparation {
    operation: "find_slots",
    id: "$BOOKING_TYPE",
    input: r#"{ "limit": 1 }"#,
    outcome: Kept::Member("$NEW_TIME", "startsAt"),
};

/// The calls before an operation's example, and what the example says in place of its own ids.
type Needs = (&'static [Preparation], &'static [(&'static str, &'static str)]);

fn needs(operation: &Operation) -> Needs {
    match operation.name {
        "merge_conversations" => {
            (&[CONVERSATION, OTHER_CONVERSATION], &[("id", "$CONVERSATION"), ("into", "$OTHER")])
        }
        "split_conversation" => {
            (&[CONVERSATION, SECOND_MESSAGE], &[("id", "$CONVERSATION"), ("messageId", "$MESSAGE")])
        }
        "update_conversations" => (&[CONVERSATION], &[("ids", "$CONVERSATION")]),
        "unlink_item" => (&[CONVERSATION, LINK], &[("id", "$LINK")]),
        "undo" => (&[CONVERSATION, ACT], &[("id", "$UNDO")]),
        "get_contact" | "set_contact_fields" => (&[CUSTOMER], &[("id", "mara@studio.test")]),
        "start_conversation" => (&[MAILBOX], &[("mailbox", "$MAILBOX")]),
        "update_draft" | "discard_draft" => (&[CONVERSATION, DRAFT], &[("id", "$DRAFT")]),
        "pause_agent" => (&[], &[("id", "me")]),
        "stop_message" => (&[CONVERSATION, SCHEDULED], &[("id", "$MESSAGE")]),
        "revoke_message" => (&[CONVERSATION, PROTECTED, ALL_HAVE_LEFT], &[("id", "$MESSAGE")]),
        "download_document" | "read_document" => {
            (&[SENDER_OF_DOCUMENTS, ASKS_FOR_DOCUMENT, DOCUMENT], &[("id", "$DOCUMENT")])
        }
        "find_slots" => (&[BOOKING_TYPE], &[("id", "$BOOKING_TYPE")]),
        "create_booking" => {
            (&[BOOKING_TYPE, FREE_TIME], &[("typeId", "$BOOKING_TYPE"), ("startsAt", "$STARTS_AT")])
        }
        "cancel_booking" => (&[BOOKING_TYPE, FREE_TIME, BOOKING], &[("id", "$BOOKING")]),
        "move_booking" => (
            &[BOOKING_TYPE, FREE_TIME, BOOKING, NEXT_FREE_TIME],
            &[("id", "$BOOKING"), ("startsAt", "$NEW_TIME")],
        ),
        _ if operation.path.starts_with("/conversations/{id}") => {
            (&[CONVERSATION], &[("id", "$CONVERSATION")])
        }
        _ => (&[], &[]),
    }
}

/// The example of an operation with everything before it.
pub struct PreparedExample {
    operation: &'static Operation,
    preparations: &'static [Preparation],
    request: ExampleRequest,
}

impl PreparedExample {
    pub fn of(operation: &'static Operation) -> PreparedExample {
        let mut request = ExampleRequest::of(operation);
        let (preparations, named_fields) = needs(operation);
        for (field, value) in named_fields {
            match *field {
                "id" => request.id = Some((*value).to_owned()),
                "ids" => drop(request.input.insert("ids".to_owned(), vec![*value].into())),
                field => drop(request.input.insert(field.to_owned(), (*value).into())),
            }
        }
        PreparedExample { operation, preparations, request }
    }

    pub fn curl(&self) -> String {
        let mut code = self.before(Preparation::curl);
        code.push_str(&self.request.curl(self.operation));
        // Inside the single quotes of a body.
        self.with_variables(code, |variable| format!("\"'{variable}'\""))
    }

    pub fn python(&self) -> String {
        let waits = self.preparations.iter().any(Preparation::waits);
        let import = if waits { "import time\n\n" } else { "" };
        let code = format!(
            "{import}from mailroom import Mailroom\n\nmailroom = Mailroom()\n{}answer = {}",
            self.before(Preparation::python),
            self.request.python_call(self.operation)
        );
        self.with_variables(code, snake_case)
    }

    pub fn typescript(&self) -> String {
        let code = format!(
            "import {{ Mailroom }} from \"./mailroom.ts\";\n\nconst mailroom = new Mailroom();\n{}\
             const answer = {};",
            self.before(Preparation::typescript),
            self.request.typescript_call(self.operation)
        );
        self.with_variables(code, |variable| camel_case(&snake_case(variable)))
    }

    fn before(&self, written: fn(&Preparation) -> String) -> String {
        self.preparations.iter().map(|preparation| format!("{}\n", written(preparation))).collect()
    }

    /// The code with variables where their names stand as texts.
    fn with_variables(&self, code: String, written: impl Fn(&str) -> String) -> String {
        let variables = self.preparations.iter().filter_map(Preparation::variable);
        variables.fold(code, |code, variable| {
            code.replace(&format!("\"{variable}\""), &written(variable))
        })
    }
}

impl Preparation {
    fn variable(&self) -> Option<&'static str> {
        match self.outcome {
            Kept::Member(variable, _)
            | Kept::NullableMember(variable, _)
            | Kept::MemberOnceThere(variable, _) => Some(variable),
            Kept::Nothing | Kept::UntilNone => None,
        }
    }

    fn waits(&self) -> bool {
        matches!(self.outcome, Kept::MemberOnceThere(..) | Kept::UntilNone)
    }

    /// A preparation of an operation that is not there fails the tests, not the reader.
    fn call(&self, written: impl Fn(&ExampleRequest, &Operation) -> String) -> String {
        let id = Some(self.id.to_owned()).filter(|id| !id.is_empty());
        let request = ExampleRequest { id, input: object(self.input) };
        find_by_name(self.operation)
            .map(|operation| written(&request, operation))
            .unwrap_or_default()
    }

    fn curl(&self) -> String {
        let call = self.call(ExampleRequest::curl).replacen("curl ", "curl -s ", 1);
        let kept = |variable: &str, member: &str| {
            let name = variable.trim_start_matches('$');
            let found = format!("grep -o '\"{member}\":\"[^\"]*' | head -1 | cut -d'\"' -f4");
            format!("{name}=$({call} \\\n  | {found})")
        };
        match self.outcome {
            Kept::Nothing => format!("{call} > /dev/null"),
            Kept::Member(variable, member) | Kept::NullableMember(variable, member) => {
                kept(variable, member)
            }
            Kept::MemberOnceThere(variable, member) => {
                let name = variable.trim_start_matches('$');
                let found = kept(variable, member);
                format!("until {found} && [ \"${{{name}}}\" ]; do sleep {LOOKS_EVERY}; done")
            }
            Kept::UntilNone => {
                format!("while {call} \\\n  | grep -q '\"id\"'; do sleep {LOOKS_EVERY}; done")
            }
        }
    }

    fn python(&self) -> String {
        let call = self.call(ExampleRequest::python_call);
        let first = self.first();
        match self.outcome {
            Kept::Nothing => call,
            Kept::Member(variable, member) | Kept::NullableMember(variable, member) => {
                format!("{} = {call}{first}[\"{member}\"]", snake_case(variable))
            }
            Kept::MemberOnceThere(variable, member) => format!(
                "while not (found := {call}):\n    time.sleep({LOOKS_EVERY})\n{} = found[0][\"{member}\"]",
                snake_case(variable)
            ),
            Kept::UntilNone => format!("while {call}:\n    time.sleep({LOOKS_EVERY})"),
        }
    }

    fn typescript(&self) -> String {
        let call = self.call(ExampleRequest::typescript_call);
        let first = self.first();
        let pause = format!(
            "  await new Promise((resume) => setTimeout(resume, {}));\n",
            LOOKS_EVERY * 1_000
        );
        let name = |variable: &str| camel_case(&snake_case(variable));
        match self.outcome {
            Kept::Nothing => format!("{call};"),
            Kept::Member(variable, member) => {
                format!("const {} = ({call}){first}.{member};", name(variable))
            }
            Kept::NullableMember(variable, member) => {
                format!("const {} = ({call}){first}.{member}!;", name(variable))
            }
            Kept::MemberOnceThere(variable, member) => format!(
                "let found = {call};\nwhile (found.length === 0) {{\n{pause}  found = {call};\n}}\n\
                 const {} = found[0].{member};",
                name(variable)
            ),
            Kept::UntilNone => format!("while (({call}).length > 0) {{\n{pause}}}"),
        }
    }

    /// What takes the first item, for an operation that answers with a list.
    fn first(&self) -> &'static str {
        let list = find_by_name(self.operation).and_then(|operation| operation.tool.as_ref()?.list);
        if list.is_some() { "[0]" } else { "" }
    }
}

/// The name of a variable as Python has it.
fn snake_case(variable: &str) -> String {
    variable.trim_start_matches('$').to_ascii_lowercase()
}
