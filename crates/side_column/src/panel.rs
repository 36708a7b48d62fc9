//! The customer panel: what the owner's app says, and its buttons.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use base::ids::EventId;
use customer_panel::{
    PanelAnswer, PanelCase, PanelPress, PanelState, PressOutcome, answer, press as press_button,
    question, record_press,
};
use translation::{sentence, t};
use web::Web;
use web::forms::form::{Asked, PostedForm, form};
use web::layout::filters;
use web::layout::page_layout::{PageLayout, PageLocation};
use web::layout::responses::{self, PageError, PageResult};
use web::layout::wording::TimeFormat;
use web::pages::lists::list_query::ListQuery;
use web::visitor::{CsrfToken, Visitor};

use crate::panel_view::{BlockView, blocks};

/// What the app says, without the layout.
#[derive(Template)]
#[template(path = "panel_card.html", whitespace = "minimize")]
struct PanelCard {
    csrf: CsrfToken,
    id: String,
    from: String,
    state: PanelState,
    app: String,
    /// When it answered.
    clock: String,
    blocks: Vec<BlockView>,
    is_cut: bool,
    /// By which the app knows a button that was pressed twice.
    press: String,
}

/// The same as a page of its own.
#[derive(Template)]
#[template(path = "panel_page.html", whitespace = "minimize")]
struct PanelPage {
    frame: PageLayout,
    back: String,
    card: PanelCard,
    /// What came of a button: the words, and whether it did what it says.
    outcome: Option<(String, bool)>,
}

impl PanelCard {
    fn new(web: &Web, place: Place, answer: PanelAnswer, times: &TimeFormat) -> PanelCard {
        let (shown, is_cut) = blocks(&answer);
        PanelCard {
            csrf: place.csrf,
            from: place.from.as_str().to_owned(),
            id: place.id,
            state: answer.state,
            app: answer.name.unwrap_or_default(),
            clock: answer.at.map(|at| times.clock(at.0)).unwrap_or_default(),
            blocks: shown,
            is_cut,
            press: EventId::new(&web.app.ids, times.now).to_string(),
        }
    }
}

/// What every form of the card carries.
struct Place {
    csrf: CsrfToken,
    id: String,
    from: ListQuery,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    let from = ListQuery::of_page(&asked);
    if !asked.has("part") {
        return web.show(&visitor, &build(&web, &visitor, id, from, None).await?);
    }
    let wanted = id.clone();
    let (case, now) =
        web.read(&visitor, move |tx, cx, _| Ok((question(tx, cx, &wanted)?, cx.now))).await?;
    let answered = answer(&web.app, &case).await?;
    let place = Place { csrf: visitor.csrf.clone(), id, from };
    let times = TimeFormat::new(now, visitor.zone.clone());
    responses::page(&PanelCard::new(&web, place, answered, &times))
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    id: String,
    from: ListQuery,
    outcome: Option<(String, bool)>,
) -> Result<PanelPage, PageError> {
    let wanted = id.clone();
    let location = PageLocation::new(t!("Customer panel"));
    let (frame, case) =
        web.page(visitor, location, move |tx, cx, _| question(tx, cx, &wanted)).await?;
    let answered = answer(&web.app, &case).await?;
    let back = from.conversation(&id);
    let place = Place { csrf: frame.csrf.clone(), id, from };
    let card = PanelCard::new(web, place, answered, &frame.times);
    Ok(PanelPage { card, back, outcome, frame })
}

form! {
    pub struct PressForm {
        button: String,
        press: String,
        from: ListQuery,
    }
}

/// Calls the app in the person's name, and says what it said.
pub async fn press(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<PressForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let wanted = id.clone();
    let (case, person): (PanelCase, String) = web
        .read(&visitor, move |tx, cx, _| {
            Ok((question(tx, cx, &wanted)?, cx.actor.name().to_owned()))
        })
        .await?;
    let now = web.app.clock.now();
    let id_of_press =
        EventId::parse(&form.press).unwrap_or_else(|| EventId::new(&web.app.ids, now));
    let pressed = PanelPress { button: form.button, person, id: id_of_press };
    let outcome = match press_button(&web.app, &case, &pressed).await? {
        PressOutcome::Done { button, message } => {
            let (wanted, words) = (id.clone(), button.clone());
            web.act(&visitor, move |tx, cx, _| record_press(tx, cx, &wanted, &words)).await?;
            let told = match message.as_str() {
                "" => t!("Done: {button}", button),
                message => message.to_owned(),
            };
            (told, true)
        }
        PressOutcome::Failed(problem) => (sentence(&problem).into_owned(), false),
    };
    web.show(&visitor, &build(&web, &visitor, id, form.from, Some(outcome)).await?)
}
