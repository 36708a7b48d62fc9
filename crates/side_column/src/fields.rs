//! Changing the fields of a conversation.

use std::sync::Arc;

use actions::workspace::fields::set_conversation_fields;
use axum::extract::{Path, State};
use web::Web;
use web::forms::form::PostedForm;
use web::layout::flash::Flash;
use web::layout::responses::{self, FormOutcome, PageResult};
use web::pages::custom_fields::PostedFields;

use crate::column;

pub async fn set(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<PostedFields>,
) -> PageResult {
    let PostedForm { visitor, mut form } = posted;
    form.read_days(&visitor);
    let (wanted, typed) = (id.clone(), form.typed.clone());
    let set =
        web.act(&visitor, move |tx, cx, _| set_conversation_fields(tx, cx, &wanted, &typed)).await;
    match set.or_problems()? {
        Ok(()) => web.redirect(&form.from.conversation(&id), Flash::FieldsSaved),
        Err(problems) => {
            let asked = form.from.fields();
            let mut page = column::build(&web, &visitor, id, &asked).await?;
            page.column.fields.refuse(&form.typed, &problems);
            responses::again(&page)
        }
    }
}
