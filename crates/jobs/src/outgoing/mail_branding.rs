//! The branding of a workspace in its mail: the colour, and the logo as a part of the mail, so that opening it
//! fetches nothing.

use base::error::Result;
use db::Tx;
use mail::{Attachment, InlineFile, MailLogo, MailLook, MessageBody, PictureUrls};
use model::branding::{self, Branding};
use translation::Language;

/// What a mail takes from its workspace.
pub(crate) struct MailBranding {
    branding: Branding,
    firm: String,
    /// The code of the language that the mail is in; empty where that is not known.
    language: String,
    is_right_to_left: bool,
    logo: Option<InlineFile>,
}

impl MailBranding {
    /// `domain` stands behind the @ of the logo's Content-ID.
    pub fn load(tx: &mut Tx<'_>, ws: i64, domain: &str) -> Result<MailBranding> {
        let mut branding = branding::load(tx, ws)?;
        if !branding.in_mail {
            branding = Branding::default();
        }
        let (firm,): (String,) = tx.one("SELECT name FROM workspaces WHERE ws = ?1", &[&ws])?;
        let png = match &branding.logo_name {
            Some(name) => branding::logo_of(tx, ws)?.map(|png| (name, png)),
            None => None,
        };
        let logo = png.map(|(name, bytes)| InlineFile {
            content_id: format!("logo-{name}@{domain}"),
            file: Attachment {
                filename: "logo.png".to_owned(),
                content_type: "image/png".to_owned(),
                bytes,
            },
        });
        Ok(MailBranding { branding, firm, language: String::new(), is_right_to_left: false, logo })
    }

    pub fn in_language(self, code: &str) -> MailBranding {
        let is_right_to_left = translation::is_right_to_left(code);
        MailBranding { language: code.to_owned(), is_right_to_left, ..self }
    }

    /// For a mail whose language is not known, with lines of ours in this one.
    pub fn in_direction_of(self, language: Language) -> MailBranding {
        MailBranding { is_right_to_left: language.is_right_to_left(), ..self }
    }

    pub fn look(&self) -> MailLook<'_> {
        let (width, height) = self.branding.logo_size();
        let pixels = |size: i64| u32::try_from(size).unwrap_or(1);
        MailLook {
            language: &self.language,
            is_right_to_left: self.is_right_to_left,
            colour: Some(self.branding.colour.as_str()).filter(|colour| !colour.is_empty()),
            logo: self.logo.as_ref().map(|logo| MailLogo {
                content_id: &logo.content_id,
                name: &self.firm,
                width: pixels(width),
                height: pixels(height),
            }),
        }
    }

    /// The HTML of a plain text, which runs as its first letter does.
    pub fn html(&self, text: &str) -> String {
        let body = MessageBody {
            text,
            markdown: None,
            signature: "",
            earlier: None,
            pictures: PictureUrls { before: "", behind: "" },
            sections: &[],
            look: MailLook { is_right_to_left: mail::begins_right_to_left(text), ..self.look() },
        };
        body.html()
    }

    /// The files that its HTML names.
    pub fn files(self) -> Vec<InlineFile> {
        self.logo.into_iter().collect()
    }
}
