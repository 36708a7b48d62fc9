//! Running a page or a form as the signed-in person.

use std::sync::Arc;

use actions::conversations::sidebar;
use actions::sign_in::sessions::{self, SignedIn};
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Error;
use db::Tx;
use serde_json::json;
use translation::{Reader, t};

use crate::forms::form::Asked;
use crate::layout::filters;
use crate::layout::page_layout::{PageLayout, PageLocation, waiting_words};
use crate::layout::responses::{self, PageError, PageResult};
use crate::visitor::Visitor;
use crate::{Web, reader};

impl Web {
    /// Reads what a page shows together with its layout, in one transaction. A page of the settings
    /// that is for admins refuses everybody else.
    pub async fn page<T, F>(
        &self,
        visitor: &Visitor,
        location: PageLocation,
        mut read: F,
    ) -> Result<(PageLayout, T), PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &SignedIn) -> base::error::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (guest, quiet) = (visitor.clone(), self.quiet.is_quiet());
        self.read(visitor, move |tx, cx, me| {
            if location.is_for_admins() {
                cx.actor.must_administer()?;
            }
            let shown = read(tx, cx, me)?;
            let frame = PageLayout::read(tx, cx, me, &guest, &location)?;
            Ok((PageLayout { quiet, ..frame }, shown))
        })
        .await
    }

    /// Reads as the signed-in person.
    pub async fn read<T, F>(&self, visitor: &Visitor, mut read: F) -> Result<T, PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &SignedIn) -> base::error::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let session = visitor.session.ok_or_else(|| to_sign_in(visitor))?;
        let (app, reader) = (self.app.clone(), Reader::current());
        let work = move |tx: &mut Tx<'_>| {
            let me = sessions::signed_in(tx, &session, app.clock.now())?;
            reader::know(&reader, &me);
            let answer = reader.run(|| read(tx, &app.cx(&me.actor), &me))?;
            Ok((answer, me.stale))
        };
        self.after_reading(visitor, session, self.app.store.read(work).await)
    }

    /// Like [`Web::page`], where a standby of the database may read what is shown. Who reads it, and
    /// the layout, come from the database.
    pub async fn page_from_replica<T, F>(
        &self,
        visitor: &Visitor,
        location: PageLocation,
        mut read: F,
    ) -> Result<(PageLayout, T), PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &SignedIn) -> base::error::Result<T>
            + Clone
            + Send
            + 'static,
        T: Send + 'static,
    {
        let (guest, quiet) = (visitor.clone(), self.quiet.is_quiet());
        let layout = move |tx: &mut Tx<'_>, cx: &Cx<'_>, me: &SignedIn| {
            if location.is_for_admins() {
                cx.actor.must_administer()?;
            }
            let frame = PageLayout::read(tx, cx, me, &guest, &location)?;
            Ok(PageLayout { quiet, ..frame })
        };
        let shown = move |tx: &mut Tx<'_>, cx: &Cx<'_>, me: &SignedIn, frame: PageLayout| {
            Ok((frame, read(tx, cx, me)?))
        };
        self.admit_then_read(visitor, layout, shown).await
    }

    /// Like [`Web::read`], where a standby of the database may read. Who reads comes from the
    /// database.
    pub async fn read_from_replica<T, F>(
        &self,
        visitor: &Visitor,
        mut read: F,
    ) -> Result<T, PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &SignedIn) -> base::error::Result<T>
            + Clone
            + Send
            + 'static,
        T: Send + 'static,
    {
        let read = move |tx: &mut Tx<'_>, cx: &Cx<'_>, me: &SignedIn, (): ()| read(tx, cx, me);
        self.admit_then_read(visitor, |_, _, _| Ok(()), read).await
    }

    /// `admit` runs on the database and `read` on its standby, both as the signed-in person.
    async fn admit_then_read<A, T, G, F>(
        &self,
        visitor: &Visitor,
        mut admit: G,
        mut read: F,
    ) -> Result<T, PageError>
    where
        G: FnMut(&mut Tx<'_>, &Cx<'_>, &SignedIn) -> base::error::Result<A>
            + Clone
            + Send
            + 'static,
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &SignedIn, A) -> base::error::Result<T>
            + Clone
            + Send
            + 'static,
        A: Send + 'static,
        T: Send + 'static,
    {
        let session = visitor.session.ok_or_else(|| to_sign_in(visitor))?;
        let (app, reader) = (self.app.clone(), Reader::current());
        let admitted = move |tx: &mut Tx<'_>| {
            let me = sessions::signed_in(tx, &session, app.clock.now())?;
            reader::know(&reader, &me);
            let admitted = reader.run(|| admit(tx, &app.cx(&me.actor), &me))?;
            Ok((me, admitted))
        };
        let (app, reader) = (self.app.clone(), Reader::current());
        let work = move |tx: &mut Tx<'_>, (me, admitted): (SignedIn, A)| {
            let answer = reader.run(|| read(tx, &app.cx(&me.actor), &me, admitted))?;
            Ok((answer, me.stale))
        };
        self.after_reading(visitor, session, self.app.store.read_from_replica(admitted, work).await)
    }

    /// The answer of a read, after which the session may have to be marked as in use.
    fn after_reading<T>(
        &self,
        visitor: &Visitor,
        session: sessions::TokenHash,
        read: base::error::Result<(T, bool)>,
    ) -> Result<T, PageError> {
        let (answer, stale) = read.map_err(|error| refusal(error, visitor))?;
        if stale {
            self.mark_seen(session);
        }
        Ok(answer)
    }

    /// Writes as the signed-in person, in one transaction, and wakes open pages.
    pub async fn act<T, F>(&self, visitor: &Visitor, mut operation: F) -> Result<T, PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &SignedIn) -> base::error::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.act_quietly(visitor, move |tx, cx, me| {
            tx.wake(Queue::Pages);
            operation(tx, cx, me)
        })
        .await
    }

    /// The same for changes that nobody else can see: no page is woken.
    pub async fn act_quietly<T, F>(
        &self,
        visitor: &Visitor,
        mut operation: F,
    ) -> Result<T, PageError>
    where
        F: FnMut(&mut Tx<'_>, &Cx<'_>, &SignedIn) -> base::error::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let session = visitor.session.ok_or_else(|| to_sign_in(visitor))?;
        let (app, reader) = (self.app.clone(), Reader::current());
        let work = move |tx: &mut Tx<'_>| {
            let me = sessions::signed_in(tx, &session, app.clock.now())?;
            reader::know(&reader, &me);
            reader.run(|| operation(tx, &app.cx(&me.actor), &me))
        };
        self.app.store.write(work).await.map_err(|error| refusal(error, visitor))
    }

    /// A page; the flash message on it is not shown again.
    pub fn show(&self, visitor: &Visitor, template: &impl Template) -> PageResult {
        let mut response = responses::page(template)?;
        if visitor.flash.is_some() {
            self.clear_flash(&mut response);
        }
        Ok(response)
    }

    /// Written in the background: the page does not wait for it.
    fn mark_seen(&self, session: sessions::TokenHash) {
        let (store, now) = (self.app.store.clone(), self.app.clock.now());
        self.app.background.start("session activity", async move {
            store.write(move |tx| sessions::mark_seen(tx, &session, now)).await
        });
    }
}

fn refusal(error: Error, visitor: &Visitor) -> PageError {
    match error {
        Error::Unauthorized => to_sign_in(visitor),
        error => PageError::Domain(error),
    }
}

fn to_sign_in(visitor: &Visitor) -> PageError {
    PageError::SignIn { next: visitor.here.clone(), left: visitor.posted.clone() }
}

/// Who is signed in, for a script that is about to post a form: their id, and the token that forms
/// carry now. A page that is behind others asks how much waits for them, too.
pub async fn session(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let counts = asked.has("waiting");
    let read = move |tx: &mut Tx<'_>, cx: &Cx<'_>, me: &SignedIn| {
        let sidebar = if counts { Some(sidebar::sidebar(tx, cx)?) } else { None };
        Ok((me.id.clone(), sidebar.as_ref().map(waiting_words)))
    };
    match web.read(&visitor, read).await {
        Ok((person, waiting)) => {
            let csrf = visitor.csrf.to_string();
            let about = json!({ "person": person, "csrf": csrf, "waiting": waiting });
            Ok(responses::json(&about))
        }
        Err(PageError::SignIn { .. }) => {
            let mut response = responses::json(&json!({}));
            *response.status_mut() = StatusCode::UNAUTHORIZED;
            Ok(response)
        }
        Err(refusal) => Err(refusal),
    }
}

#[derive(Template)]
#[template(path = "help.html", whitespace = "minimize")]
struct Help {
    frame: PageLayout,
}

pub async fn help(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    let (frame, ()) =
        web.page(&visitor, PageLocation::new(t!("Keyboard and help")), |_, _, _| Ok(())).await?;
    web.show(&visitor, &Help { frame })
}
