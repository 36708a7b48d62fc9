//! `GET /documents/{id}/file`: a document's file as it came.

use base::error::Error;
use base::ids::DocumentId;
use base::security::scopes::Scope;
use model::documents;

use crate::operations::{
    Access, FileOutput, Method, Operation, OperationOutput, PathInput, ScopeRule, parse_input,
};

pub const OPERATION: Operation = Operation {
    name: "download_document",
    method: Method::Get,
    path: "/documents/{id}/file",
    // A model is given text; bytes are of no use to it.
    tool: None,
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "Download a document",
    about: "The file as it came, as a download: the answer is its bytes, not JSON. A stranger made \
            it, so open it as you would open a stranger's file.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<String>(),
    example_input: "",
    example_output: "",
    run: |tx, cx, input| {
        let input: PathInput = parse_input(input)?;
        let id = DocumentId::parse(&input.id).ok_or(Error::NotFound("document"))?;
        let file = documents::find_file(tx, cx, &id)?.read(tx, cx)?;
        Ok(OperationOutput { file: Some(FileOutput::Download(file)), ..OperationOutput::default() })
    },
};
