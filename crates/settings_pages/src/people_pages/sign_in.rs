//! How a person signs in: passkeys, the authenticator app and recovery codes; and the rule for the team.

use std::sync::Arc;

use actions::sign_in::passkeys::{self, PasskeyListing};
use actions::sign_in::provider_accounts::{self, ProviderAccount};
use actions::sign_in::second_step::{self, SecondStep, SecondStepEntry, TotpSetUp};
use actions::sign_in::sign_in_steps::{self, SignInStepKind};
use actions::sign_in::{sessions, sign_in_reset};
use askama::Template;
use axum::extract::{Path, State};
use base::actor::Role;
use base::error::Error;
use base::ids::{PasskeyId, UserId};
use base::security::webauthn::{NewCredential, PasskeyFault};
use translation::t;
use web::Web;
use web::forms::form::{PostedForm, form};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::qr_code::QrCode;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::pages::signing_in::second_step::{CodeForm, in_groups};
use web::visitor::Visitor;

use crate::people_pages::you::{PasswordCheck, own_password};
use crate::{SettingsPage, location};

pub(crate) const HERE: &str = "/settings/sign-in";

#[derive(Template)]
#[template(path = "settings_sign_in.html", whitespace = "minimize")]
struct OwnSignInPage {
    frame: PageLayout,
    /// False where browsers offer no passkeys.
    offers_passkeys: bool,
    passkeys: Vec<PasskeyView>,
    passkey_error: String,
    /// True for a person with a password, and what was wrong with the proof for a new passkey.
    has_password: bool,
    proof_error: String,
    totp_since: Option<DisplayTime>,
    codes_left: i64,
    /// True where everybody signs in with two steps.
    required: bool,
    /// The QR code and the secret of an app that is being set up.
    set_up: Option<(QrCode, String)>,
    code_error: String,
    off_error: String,
    codes_error: String,
    replace_error: String,
    /// Recovery codes, shown once.
    new_codes: Vec<String>,
    /// The provider at which people sign in.
    provider: Option<ProviderView>,
    provider_error: String,
}

struct ProviderView {
    name: String,
    /// The account that is linked.
    account: Option<ProviderAccountView>,
    /// False for somebody who signs in there only.
    may_unlink: bool,
}

struct ProviderAccountView {
    email: String,
    linked: DisplayTime,
    used: String,
}

struct PasskeyView {
    id: String,
    name: String,
    added: DisplayTime,
    used: String,
}

/// What the page shows of the person.
struct OwnSignIn {
    has_password: bool,
    passkeys: Vec<PasskeyListing>,
    second_step: SecondStep,
    set_up: Option<TotpSetUp>,
    required: bool,
    role: Role,
    account: Option<ProviderAccount>,
}

pub async fn page(State(web): State<Arc<Web>>, visitor: Visitor) -> PageResult {
    web.show(&visitor, &build(&web, &visitor).await?)
}

async fn build(web: &Web, visitor: &Visitor) -> Result<OwnSignInPage, PageError> {
    let step = visitor.step;
    let rules = web.oidc.as_ref().map(|client| client.rules().clone());
    let issuer = rules.as_ref().map(|rules| rules.issuer.clone());
    let (frame, own) = web
        .page(visitor, location(SettingsPage::SignIn), move |tx, cx, me| {
            Ok(OwnSignIn {
                has_password: sessions::has_password(tx, cx)?,
                passkeys: passkeys::list_passkeys(tx, cx)?,
                second_step: second_step::own_second_step(tx, cx)?,
                set_up: sign_in_steps::totp_set_up(tx, cx, step.as_ref())?,
                required: second_step::wants_two_steps(tx, cx)?,
                role: me.role,
                account: match &issuer {
                    Some(issuer) => provider_accounts::own_provider_account(tx, cx, issuer)?,
                    None => None,
                },
            })
        })
        .await?;
    let view = |key: PasskeyListing| PasskeyView {
        id: key.id.to_string(),
        name: key.name,
        added: frame.times.short(key.created_at),
        used: key.used_at.map_or(t!("not yet").into(), |at| frame.times.ago(at)),
    };
    let account = own.account.map(|account| ProviderAccountView {
        email: account.email,
        linked: frame.times.short(account.linked_at),
        used: account.used_at.map_or(t!("not yet").into(), |at| frame.times.ago(at)),
    });
    let provider = rules.map(|rules| ProviderView {
        may_unlink: rules.other_ways.let_in(own.role),
        name: rules.name,
        account,
    });
    let set_up = own.set_up.map(|it| (QrCode::of(&it.address), in_groups(&it.secret.base32())));
    Ok(OwnSignInPage {
        offers_passkeys: web.passkey_site().is_some(),
        passkeys: own.passkeys.into_iter().map(view).collect(),
        passkey_error: String::new(),
        has_password: own.has_password,
        proof_error: String::new(),
        totp_since: own.second_step.since.map(|at| frame.times.short(at)),
        codes_left: own.second_step.recovery_codes,
        required: own.required,
        set_up,
        code_error: String::new(),
        off_error: String::new(),
        codes_error: String::new(),
        replace_error: String::new(),
        new_codes: Vec::new(),
        provider,
        provider_error: String::new(),
        frame,
    })
}

form! {
    /// What a browser says of a new passkey.
    pub struct NewPasskeyForm {
        name: String,
        id: String,
        client_data: String,
        authenticator_data: String,
        public_key: String,
        algorithm: Option<i64>,
        code: String,
        password: String,
    }

    pub struct PasskeyNameForm {
        name: String,
    }

    pub struct TwoStepsForm {
        everybody: bool,
    }
}

pub async fn begin_totp(State(web): State<Arc<Web>>, posted: PostedForm) -> PageResult {
    let begin = web.act_quietly(&posted.visitor, |tx, cx, _| sign_in_steps::begin_totp(tx, cx));
    let token = begin.await?;
    let mut response = responses::see_other("/settings/sign-in#app-h");
    web.set_step(&mut response, &token);
    Ok(response)
}

pub async fn confirm_totp(State(web): State<Arc<Web>>, posted: PostedForm<CodeForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let step = visitor.step;
    let confirm = web.act_quietly(&visitor, move |tx, cx, me| {
        sign_in_steps::confirm_totp(tx, cx, step.as_ref(), &form.code, &me.session)
    });
    let codes = confirm.await?;
    let page = build(&web, &visitor).await?;
    match codes {
        Some(new_codes) => responses::page(&OwnSignInPage { new_codes, ..page }),
        None => {
            let code_error = SecondStepEntry::Wrong.sentence().unwrap_or_default();
            responses::again(&OwnSignInPage { code_error, ..page })
        }
    }
}

pub async fn switch_totp_off(
    State(web): State<Arc<Web>>,
    posted: PostedForm<CodeForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let switch = web
        .act_quietly(&visitor, move |tx, cx, _| second_step::switch_totp_off(tx, cx, &form.code));
    match switch.await?.sentence() {
        None => web.redirect(HERE, Flash::SecondStepOff),
        Some(off_error) => {
            let page = build(&web, &visitor).await?;
            responses::again(&OwnSignInPage { off_error, ..page })
        }
    }
}

/// Begins to set up an app in the place of one that is lost or old.
pub async fn replace_totp(State(web): State<Arc<Web>>, posted: PostedForm<CodeForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let begin = web.act_quietly(&visitor, move |tx, cx, _| {
        sign_in_steps::begin_other_totp(tx, cx, &form.code)
    });
    let (entry, token) = begin.await?;
    let Some(token) = token else {
        let replace_error = entry.sentence().unwrap_or_default();
        let page = build(&web, &visitor).await?;
        return responses::again(&OwnSignInPage { replace_error, ..page });
    };
    let mut response = responses::see_other("/settings/sign-in#app-h");
    web.set_step(&mut response, &token);
    Ok(response)
}

pub async fn renew_codes(State(web): State<Arc<Web>>, posted: PostedForm<CodeForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let renew = web.act_quietly(&visitor, move |tx, cx, _| {
        second_step::renew_recovery_codes(tx, cx, &form.code)
    });
    let (entry, new_codes) = renew.await?;
    let page = build(&web, &visitor).await?;
    match entry.sentence() {
        None => responses::page(&OwnSignInPage { new_codes, ..page }),
        Some(codes_error) => responses::again(&OwnSignInPage { codes_error, ..page }),
    }
}

pub async fn add_passkey(
    State(web): State<Arc<Web>>,
    posted: PostedForm<NewPasskeyForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let site = web.passkey_site().ok_or(Error::NotFound("page"))?;
    if let Some(proof_error) = missing_proof(&web, &visitor, form.code, form.password).await? {
        let page = build(&web, &visitor).await?;
        return responses::again(&OwnSignInPage { proof_error, ..page });
    }
    let new = NewCredential {
        id: form.id,
        client_data: form.client_data,
        authenticator_data: form.authenticator_data,
        public_key: form.public_key,
        algorithm: form.algorithm.unwrap_or_default(),
    };
    let (step, name) = (visitor.step, form.name);
    let added = web
        .act_quietly(&visitor, move |tx, cx, me| {
            let begun = match &step {
                Some(token) => {
                    sign_in_steps::take_step(tx, token, SignInStepKind::NewPasskey, cx.now)?
                }
                None => None,
            };
            let Some(begun) = begun.filter(|begun| begun.person().as_ref() == Some(&me.id)) else {
                return Ok(Err(PasskeyFault("the challenge is too old, or another session's")));
            };
            match new.check(&site, &begun.data) {
                Ok(credential) => passkeys::add_passkey(tx, cx, &name, &credential).map(Ok),
                Err(fault) => Ok(Err(fault)),
            }
        })
        .await;
    let passkey_error = match added.or_problems()? {
        Ok(Ok(())) => return web.redirect(HERE, Flash::PasskeyAdded),
        Ok(Err(PasskeyFault(reason))) => {
            tracing::info!(reason, "a new passkey was refused");
            t!("The passkey could not be added. Try again.").to_owned()
        }
        Err(problems) => problems.sentences(),
    };
    let page = build(&web, &visitor).await?;
    responses::again(&OwnSignInPage { passkey_error, ..page })
}

/// The page with why no account at the provider was linked.
pub(crate) async fn not_linked(web: &Web, visitor: &Visitor, provider_error: String) -> PageResult {
    let page = build(web, visitor).await?;
    responses::again(&OwnSignInPage { provider_error, ..page })
}

/// Whoever adds a passkey or links an account gives a code of their app or, without one, their password, so that an
/// unlocked computer is not enough. Answers what was wrong.
pub(crate) async fn missing_proof(
    web: &Web,
    visitor: &Visitor,
    code: String,
    password: String,
) -> Result<Option<String>, PageError> {
    let prove =
        web.act_quietly(visitor, move |tx, cx, _| second_step::prove_second_step(tx, cx, &code));
    if let Some(entry) = prove.await? {
        return Ok(entry.sentence());
    }
    Ok(match own_password(web, visitor, password).await? {
        PasswordCheck::Wrong(sentence) => Some(sentence),
        PasswordCheck::NoPassword | PasswordCheck::Right { .. } => None,
    })
}

pub async fn rename_passkey(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<PasskeyNameForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let id = passkey_id(&id)?;
    let rename = web
        .act_quietly(&visitor, move |tx, cx, _| passkeys::rename_passkey(tx, cx, &id, &form.name));
    rename.await?;
    web.redirect(HERE, Flash::Saved)
}

pub async fn remove_passkey(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = passkey_id(&id)?;
    let remove = web.act_quietly(&posted.visitor, move |tx, cx, me| {
        passkeys::remove_passkey(tx, cx, &id, &me.session)
    });
    remove.await?;
    web.redirect(HERE, Flash::PasskeyRemoved)
}

fn passkey_id(id: &str) -> base::error::Result<PasskeyId> {
    PasskeyId::parse(id).ok_or(Error::NotFound("passkey"))
}

/// Owners and admins say whether everybody signs in with two steps.
pub async fn set_two_steps(
    State(web): State<Arc<Web>>,
    posted: PostedForm<TwoStepsForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let wants = form.everybody;
    web.act(&visitor, move |tx, cx, _| second_step::want_two_steps(tx, cx, wants)).await?;
    web.redirect("/settings/people", Flash::TwoSteps)
}

/// For somebody whose device is lost.
pub async fn reset(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let id = UserId::parse(&id).ok_or(Error::NotFound("person"))?;
    web.act(&posted.visitor, move |tx, cx, _| sign_in_reset::reset_sign_in(tx, cx, &id)).await?;
    web.redirect("/settings/people", Flash::SignInReset)
}
