//! How a workspace looks to its customers: a logo and a colour, on the pages that they see and in the mail that they
//! get.

mod colour;
mod logo;

use base::app::Cx;
use base::error::{Error, Result};
use base::files::blobs::hex;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use db::Tx;
use sha2::{Digest, Sha256};

pub use colour::BrandColour;
pub use logo::{CleanLogo, clean_logo, is_jpeg};

/// Bytes of a logo's hash that are its name.
const NAME_BYTES: usize = 16;
/// Pixels that a logo takes at most on pages and in mail.
const SHOWN_WIDTH_PX: i64 = 200;
const SHOWN_HEIGHT_PX: i64 = 48;

db::row! {
    /// The logo and the colour of a workspace; by default it has neither.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Branding from "brandings" {
        /// The colour as somebody chose it, `#f2c14e`; empty where nobody did.
        pub chosen_colour: String,
        /// The same as it is used: darkened where words on it could not be read.
        pub colour: String,
        /// What pages call the logo.
        pub logo_name: Option<String>,
        logo_width: i64,
        logo_height: i64,
        /// True where sent mail has both, too.
        pub in_mail: bool,
    }
}

impl Branding {
    /// Where pages find the style sheet of the colour.
    pub fn style_sheet(&self) -> Option<String> {
        let digits = self.colour.strip_prefix('#')?;
        Some(format!("/brand/{digits}.css"))
    }

    /// Where pages find the logo, with its width and height as it is shown.
    pub fn logo(&self) -> Option<(String, i64, i64)> {
        let name = self.logo_name.as_ref()?;
        let (width, height) = self.logo_size();
        Some((format!("/brand/{name}.png"), width, height))
    }

    /// Width and height in pixels, as the logo is shown.
    pub fn logo_size(&self) -> (i64, i64) {
        let (width, height) = (self.logo_width.max(1), self.logo_height.max(1));
        let by_height = (width * SHOWN_HEIGHT_PX / height, SHOWN_HEIGHT_PX);
        let by_width = (SHOWN_WIDTH_PX, height * SHOWN_WIDTH_PX / width);
        let (width, height) = if by_height.0 <= SHOWN_WIDTH_PX { by_height } else { by_width };
        (width.max(1), height.max(1))
    }

    /// What is between white and the colour, in words as `7.4`; `None` where there is no colour.
    pub fn contrast_with_white(&self) -> Option<String> {
        let colour = BrandColour::parse(&self.colour)?;
        Some(format!("{:.1}", colour.contrast(BrandColour::WHITE)))
    }

    /// True where the colour was too light for words on it.
    pub fn is_darkened(&self) -> bool {
        self.chosen_colour != self.colour
    }
}

/// What becomes of the logo.
#[derive(Clone, Debug)]
pub enum LogoChange {
    Keep,
    Remove,
    Replace(CleanLogo),
}

/// The branding of a workspace.
pub fn load(tx: &mut Tx<'_>, ws: i64) -> Result<Branding> {
    let found: Option<Branding> =
        tx.opt(&format!("SELECT {} FROM brandings WHERE ws = ?1", Branding::COLUMNS), &[&ws])?;
    Ok(found.unwrap_or_default())
}

/// The branding of the only workspace there is, for pages that know of none; nothing where there are several.
pub fn of_only_workspace(tx: &mut Tx<'_>) -> Result<Branding> {
    let found: Vec<(i64,)> = tx.all("SELECT ws FROM workspaces ORDER BY ws LIMIT 2", &[])?;
    match found.as_slice() {
        [(ws,)] => load(tx, *ws),
        _ => Ok(Branding::default()),
    }
}

/// Sets the branding of the actor's workspace. An empty colour takes back the one that was chosen.
pub fn save(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    colour: &str,
    in_mail: bool,
    logo: &LogoChange,
) -> Result<Branding> {
    let ws = cx.actor.ws;
    let (chosen, used) = match colour.trim() {
        "" => (String::new(), String::new()),
        colour => {
            let sentence = "Write the colour with six digits such as #0b5c61.";
            let parsed = BrandColour::parse(colour);
            let chosen = parsed.ok_or_else(|| Error::invalid("colour", sentence))?;
            (chosen.to_string(), chosen.for_light().to_string())
        }
    };
    tx.exec(
        "INSERT INTO brandings (
            ws, chosen_colour, colour, logo, logo_name, logo_width, logo_height, in_mail, changed_at
         ) VALUES (?1, ?2, ?3, '', NULL, 0, 0, ?4, ?5)
         ON CONFLICT (ws) DO UPDATE
         SET chosen_colour = excluded.chosen_colour, colour = excluded.colour,
             in_mail = excluded.in_mail, changed_at = excluded.changed_at",
        &[&ws, &chosen, &used, &in_mail, &cx.now],
    )?;
    match logo {
        LogoChange::Keep => {}
        LogoChange::Remove => write_logo(tx, ws, "", None, (0, 0))?,
        LogoChange::Replace(logo) => {
            let name = hex(&Sha256::digest(&logo.png)[..NAME_BYTES]);
            let size = (i64::from(logo.width), i64::from(logo.height));
            write_logo(tx, ws, &STANDARD.encode(&logo.png), Some(&name), size)?;
        }
    }
    load(tx, ws)
}

fn write_logo(
    tx: &mut Tx<'_>,
    ws: i64,
    png: &str,
    name: Option<&str>,
    (width, height): (i64, i64),
) -> Result<()> {
    tx.exec(
        "UPDATE brandings SET logo = ?2, logo_name = ?3, logo_width = ?4, logo_height = ?5
         WHERE ws = ?1",
        &[&ws, &png, &name, &width, &height],
    )?;
    Ok(())
}

/// The logo of a workspace as a PNG, if it has one.
pub fn logo_of(tx: &mut Tx<'_>, ws: i64) -> Result<Option<Vec<u8>>> {
    let found: Option<(String,)> =
        tx.opt("SELECT logo FROM brandings WHERE ws = ?1 AND logo_name IS NOT NULL", &[&ws])?;
    found.map(|(logo,)| decode(&logo)).transpose()
}

/// The logo that pages call by this name.
pub fn logo_named(tx: &mut Tx<'_>, name: &str) -> Result<Option<Vec<u8>>> {
    let found: Option<(String,)> =
        tx.opt("SELECT logo FROM brandings WHERE logo_name = ?1 LIMIT 1", &[&name])?;
    found.map(|(logo,)| decode(&logo)).transpose()
}

fn decode(logo: &str) -> Result<Vec<u8>> {
    STANDARD.decode(logo).map_err(|error| std::io::Error::other(error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logo_is_shown_small_in_its_own_shape() {
        for (size, shown) in
            [((400, 100), (192, 48)), ((1200, 100), (200, 16)), ((60, 120), (24, 48))]
        {
            let branding =
                Branding { logo_width: size.0, logo_height: size.1, ..Branding::default() };
            assert_eq!(branding.logo_size(), shown, "{size:?}");
        }
    }

    #[test]
    fn a_workspace_without_logo_and_colour_asks_for_no_files() {
        let none = Branding::default();
        assert_eq!((none.style_sheet(), none.logo(), none.is_darkened()), (None, None, false));
        let chosen = Branding { colour: "#7a4a12".into(), ..none };
        assert_eq!(chosen.style_sheet().as_deref(), Some("/brand/7a4a12.css"));
    }
}
