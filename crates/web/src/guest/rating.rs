//! The page on which a customer says how a closed conversation was. Opening a link of the mail chooses an
//! answer on the page and records none: only the form does.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use axum::middleware::map_response;
use axum::response::IntoResponse;
use axum::routing::get;
use base::app::Cx;
use base::error::Error;
use base::limits::SIGN_IN_WAIT_MINUTES;
use db::Tx;
use model::branding::Branding;
use model::guests::ratings::{self, RatingPage};
use model::times::local_times::LocalTimes;
use translation::t;

use super::{GuestForm, keep_secret};
use crate::Web;
use crate::forms::form::Asked;
use crate::layout::filters;
use crate::layout::responses::{PageError, html, see_other};
use crate::visitor::Visitor;

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/r/{token}", get(show).post(rate))
        .route("/r/{token}/stop", get(ask_to_stop).post(stop))
        .layer(map_response(keep_secret))
}

/// A page with what else it shows.
struct FoundRating {
    page: RatingPage,
    times: LocalTimes,
    is_opted_out: bool,
}

impl Web {
    /// Reads for somebody with the link.
    async fn find_rating(&self, visitor: &Visitor, token: &str) -> Result<FoundRating, PageError> {
        let (wanted, app) = (token.to_owned(), self.app.clone());
        let work = move |tx: &mut Tx<'_>| {
            let page = ratings::page_at(tx, &wanted)?;
            let is_opted_out = page.is_opted_out(tx, &app.cx(&page.actor))?;
            let times = LocalTimes::of(tx, page.actor.ws, &page.mailbox)?;
            Ok(FoundRating { page, times, is_opted_out })
        };
        let outcome = self.app.store.read(work).await;
        self.or_miss(visitor, outcome).await
    }

    /// Writes for somebody with the link, in one transaction.
    async fn act_for_rating<F>(
        &self,
        visitor: &Visitor,
        token: &str,
        mut operation: F,
    ) -> Result<(), PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &RatingPage) -> base::error::Result<()> + Send + 'static,
    {
        let (wanted, app) = (token.to_owned(), self.app.clone());
        let work = move |tx: &mut Tx<'_>| {
            let page = ratings::page_at(tx, &wanted)?;
            operation(tx, &app.cx(&page.actor), &page)
        };
        let outcome = self.app.store.write(work).await;
        self.or_miss(visitor, outcome).await
    }
}

#[derive(Template)]
#[template(path = "rating.html", whitespace = "minimize")]
struct RatingView {
    token: String,
    workspace: String,
    branding: Branding,
    choices: Vec<RatingChoice>,
    comment: String,
    /// An answer was given before.
    is_rated: bool,
    is_open: bool,
    /// Until when an answer is taken.
    until: String,
    is_opted_out: bool,
    error: String,
}

struct RatingChoice {
    score: i64,
    word: &'static str,
    is_chosen: bool,
}

pub async fn show(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
    Asked(asked): Asked,
) -> Response<Body> {
    match web.find_rating(&visitor, &token).await {
        Ok(found) => {
            let chosen: Option<i64> = asked.get("score").parse().ok().or(found.page.score);
            html(StatusCode::OK, &view(token, found, chosen, web.app.clock.now()))
        }
        Err(refusal) => gone_page(refusal),
    }
}

fn view(token: String, found: FoundRating, chosen: Option<i64>, now: i64) -> RatingView {
    let FoundRating { page, times, is_opted_out } = found;
    let choice = |score: &i64| RatingChoice {
        score: *score,
        word: page.mode.word(*score),
        is_chosen: chosen == Some(*score),
    };
    RatingView {
        token,
        choices: page.mode.scores().iter().map(choice).collect(),
        is_rated: page.score.is_some(),
        is_open: page.is_open(now),
        until: times.moment(page.open_until()),
        is_opted_out,
        error: String::new(),
        comment: page.comment,
        workspace: page.workspace,
        branding: page.branding,
    }
}

/// Records the answer.
pub async fn rate(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
    form: GuestForm,
) -> Response<Body> {
    let score: i64 = form.get("score").parse().unwrap_or(0);
    let comment = form.get("comment");
    let typed = comment.clone();
    let rated =
        web.act_for_rating(&visitor, &token, move |tx, cx, page| page.rate(tx, cx, score, &typed));
    match rated.await {
        // The page says what was recorded, also where it can be changed no more.
        Ok(()) | Err(PageError::Domain(Error::Conflict(_))) => see_other(&format!("/r/{token}")),
        Err(PageError::Domain(Error::Invalid(problems))) => {
            match web.find_rating(&visitor, &token).await {
                Ok(found) => {
                    let mut page = view(token, found, Some(score), web.app.clock.now());
                    page.comment = comment;
                    page.error = problems.first_sentence();
                    html(StatusCode::UNPROCESSABLE_ENTITY, &page)
                }
                Err(refusal) => gone_page(refusal),
            }
        }
        Err(refusal) => gone_page(refusal),
    }
}

#[derive(Template)]
#[template(path = "rating_stop.html", whitespace = "minimize")]
struct RatingStop {
    token: String,
    workspace: String,
    branding: Branding,
    is_opted_out: bool,
}

pub async fn ask_to_stop(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> Response<Body> {
    match web.find_rating(&visitor, &token).await {
        Ok(FoundRating { page, is_opted_out, .. }) => {
            let (workspace, branding) = (page.workspace, page.branding);
            html(StatusCode::OK, &RatingStop { token, workspace, branding, is_opted_out })
        }
        Err(refusal) => gone_page(refusal),
    }
}

/// Ends the questions for good, from the page or from a mail program's own button (RFC 8058).
pub async fn stop(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> Response<Body> {
    match web.act_for_rating(&visitor, &token, |tx, cx, page| page.opt_out(tx, cx)).await {
        Ok(()) => see_other(&format!("/r/{token}/stop")),
        Err(refusal) => gone_page(refusal),
    }
}

/// A page that says why there is nothing to answer.
#[derive(Template)]
#[template(path = "upload_nothing.html", whitespace = "minimize")]
struct NoRating {
    title: &'static str,
    sentence: String,
}

fn gone_page(refusal: PageError) -> Response<Body> {
    match refusal {
        PageError::Domain(Error::NotFound(_)) => {
            let sentence = t!("The conversation that it was about is not kept any more.").into();
            html(
                StatusCode::NOT_FOUND,
                &NoRating { title: t!("This link leads nowhere"), sentence },
            )
        }
        PageError::TooManyAttempts => {
            let sentence = t!(
                "Too many links that lead nowhere were opened from here. Wait {minutes} minutes \
                 and open yours again.",
                minutes = SIGN_IN_WAIT_MINUTES
            );
            let page = NoRating { title: t!("Wait a little"), sentence };
            html(StatusCode::TOO_MANY_REQUESTS, &page)
        }
        refusal => refusal.into_response(),
    }
}
