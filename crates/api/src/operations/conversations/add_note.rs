//! `POST /conversations/{id}/notes`: adds an internal note.

use base::app::Cx;
use base::error::Result;
use base::limits::NOTE_CHARS;
use base::security::scopes::Scope;
use db::Tx;
use model::conversations::{self, notes};

use crate::fields::filled_text;
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};
use crate::wire::AddedNote;

pub const OPERATION: Operation = Operation {
    name: "add_note",
    method: Method::Post,
    path: "/conversations/{id}/notes",
    tool: Some(Tool {
        name: "add_note",
        about: "Adds an internal note; @FirstName mentions a person.",
        help: "Adds an internal note. Use it for findings, questions or a handover; \
                @FirstName mentions a person, and the answer says who was found. The team \
                sees it under your name, the customer never does.",
        hints: &[],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "body": "The parcel left on Tuesday. @Ines, can you check with the carrier?"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: false,
    title: "Add an internal note",
    about: "Adds a note that the team sees and the customer never does. Each call makes a new \
            note, unless it repeats an Idempotency-Key.",
    fields: AddNoteInput::FIELDS,
    body_optional: false,
    success: 201,
    output: |schemas| schemas.subschema_for::<AddedNote>(),
    example_input: r#"{ "body": "The parcel left on Tuesday. @Ines, can you check with the carrier?" }"#,
    example_output: r#"{
        "ok": true,
        "noteId": "not_01kag10a1b2c3d4e5f6g7h8j9k",
        "mentioned": ["Ines Marti"],
        "unknownMentions": []
    }"#,
    run: |tx, cx, input| answer(&add_note(tx, cx, parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    pub struct AddNoteInput {
        /// Plain text. @FirstName mentions a person; the answer says whom it found.
        #[required(filled_text(NOTE_CHARS))]
        pub body: String,
    } beside {
        pub id: String,
    }
}

pub fn add_note(tx: &mut Tx<'_>, cx: &Cx<'_>, input: AddNoteInput) -> Result<AddedNote> {
    let conversation = conversations::load(tx, cx.actor, &input.id)?;
    let note = notes::add(tx, cx, &conversation, &input.body)?;
    Ok(AddedNote {
        ok: true,
        note_id: note.id,
        mentioned: note.mentions.people,
        unknown_mentions: note.mentions.unknown,
    })
}
