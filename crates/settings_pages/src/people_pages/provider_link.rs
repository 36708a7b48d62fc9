//! A person's account at the sign-in provider: linked after they have signed in there, and unlinked; and
//! where the browser comes back to from the provider.

use std::sync::Arc;

use actions::sign_in::provider_accounts;
use actions::sign_in::provider_rules::{LocalSignInPolicy, ProviderPlan};
use actions::sign_in::sign_in_steps::{self, SignInStep};
use axum::extract::State;
use base::actor::Role;
use base::error::Error;
use transport::oidc::ProviderSignIn;
use web::Web;
use web::forms::form::{Asked, FormFields, PostedForm, form};
use web::layout::flash::Flash;
use web::layout::responses::{FormOutcome, PageResult, see_other};
use web::pages::signing_in::{provider, sign_out};
use web::visitor::Visitor;

use crate::people_pages::sign_in::{HERE, missing_proof, not_linked};

form! {
    /// Who links an account gives a code of their app or, without one, their password.
    pub struct LinkProviderForm {
        code: String,
        password: String,
    }
}

/// Leaves for the provider to link an account.
pub async fn begin(
    State(web): State<Arc<Web>>,
    posted: PostedForm<LinkProviderForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    web.provider()?;
    if let Some(sentence) = missing_proof(&web, &visitor, form.code, form.password).await? {
        return not_linked(&web, &visitor, sentence).await;
    }
    let (app, plan) = (web.app.clone(), ProviderPlan::new(&web.app.ids));
    let planned = plan.clone();
    let begin = web.act_quietly(&visitor, move |tx, cx, _| {
        sign_in_steps::begin_provider_step(tx, &app, &planned, "", Some(cx.actor))
    });
    let token = begin.await?;
    match provider::leave(&web, &plan, &token, HERE).await {
        Ok(response) => Ok(response),
        Err(sentence) => not_linked(&web, &visitor, sentence).await,
    }
}

pub async fn unlink(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    let rules = web.provider()?.rules().clone();
    let unlink = web.act_quietly(&posted.visitor, move |tx, cx, me| {
        if rules.other_ways == LocalSignInPolicy::ForOwners && me.role != Role::Owner {
            let sentence = "It is the only way in which you sign in. Ask an owner or admin to reset your \
                            sign-in.";
            return Err(Error::Forbidden(sentence.into()));
        }
        provider_accounts::unlink_provider_account(tx, cx, &rules, &me.session)
    });
    unlink.await?;
    web.redirect(HERE, Flash::ProviderUnlinked)
}

/// The browser comes back from the provider: somebody signs in, or links their account.
pub async fn callback(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    web.provider()?;
    if sign_out::is_back_from_signing_out(&asked) {
        return Ok(see_other("/sign-in"));
    }
    let Some((step, plan)) = provider::take_returning_step(&web, &visitor, &asked).await? else {
        return provider::too_old(&web, &visitor).await;
    };
    let mut response = match step.person() {
        Some(_) => link(&web, &visitor, step, plan, &asked).await?,
        None => return provider::finish(&web, &visitor, step, plan, &asked).await,
    };
    web.clear_step(&mut response);
    Ok(response)
}

async fn link(
    web: &Web,
    visitor: &Visitor,
    step: SignInStep,
    plan: ProviderPlan,
    asked: &FormFields,
) -> PageResult {
    // Whoever has to sign in here first begins anew: the code is for this session alone.
    let visitor = &Visitor { here: HERE.into(), ..visitor.clone() };
    let signed_in = provider::signed_in_there(web, &plan, asked).await;
    let ProviderSignIn { identity, id_token } = match signed_in {
        Ok(signed_in) => signed_in,
        Err(sentence) => return not_linked(web, visitor, sentence).await,
    };
    let rules = web.provider()?.rules().clone();
    let linked = web
        .act_quietly(visitor, move |tx, cx, me| {
            if step.ws != cx.actor.ws || step.person().as_ref() != Some(&me.id) {
                let sentence = "Another person began this. Begin it again.";
                return Err(Error::invalid("account", sentence));
            }
            provider_accounts::link_provider_account(tx, cx, &rules, &identity)
        })
        .await;
    match linked.or_problems()? {
        Ok(()) => {
            let mut response = web.redirect(HERE, Flash::ProviderLinked)?;
            web.keep_provider_account(&mut response, &id_token);
            Ok(response)
        }
        Err(problems) => not_linked(web, visitor, problems.sentences()).await,
    }
}
