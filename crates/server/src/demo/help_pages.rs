//! The public help pages of the sample workspace: three sections in English and German.

use actions::workspace::help_site::{help_settings, set_help_site};
use actions::writing::answer_folder::{FolderAnswer, import_folder, read_answer};
use base::app::Cx;
use base::error::Result;
use db::Tx;
use knowledge::help_site::HelpSiteInput;

macro_rules! pages {
    ($($path:literal),+ $(,)?) => {
        /// Paths and texts.
        const PAGES: &[(&str, &str)] = &[$(($path, include_str!(concat!("help/", $path)))),+];
    };
}

pages! {
    "en/how-long-a-lamp-takes.md",
    "en/tables-day-carrier-stairs.md",
    "en/parcel-not-here.md",
    "en/give-it-back.md",
    "en/part-missing.md",
    "en/which-bulb.md",
    "en/dimmer-hums.md",
    "en/oiled-oak.md",
    "en/gift-cards.md",
    "de/wie-lange.md",
    "de/tische.md",
    "de/rueckgabe.md",
    "de/teil-fehlt.md",
    "de/leuchtmittel.md",
    "de/dimmer-brummt.md",
}

/// Makes the answers public, adds the others, and opens the pages. They lead to the sample's contact form.
pub fn open(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    let pages = PAGES.iter().map(|(path, text)| read_answer(path, text.as_bytes()));
    let pages: Vec<FolderAnswer> = pages.collect::<Result<_>>()?;
    import_folder(tx, cx, &pages)?;
    let (_, forms) = help_settings(tx, cx)?;
    let input = HelpSiteInput {
        is_open: true,
        language: "en".to_owned(),
        form: forms.first().map(|form| form.id.to_string()).unwrap_or_default(),
    };
    set_help_site(tx, cx, &input).map(drop)
}
