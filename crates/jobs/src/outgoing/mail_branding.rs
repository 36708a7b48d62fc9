//! The branding of a workspace in its mail: the colour, and the logo as a part of the mail, so that opening it
//! fetches nothing.

use base::error::Result;
use db::Tx;
use mail::{Attachment, InlineFile, MailLogo, MailLook, MessageBody, PictureUrls};
use model::branding::{self, Branding};

/// What a mail takes from its workspace.
pub(crate) struct MailBranding {
    branding: Branding,
    firm: String,
    /// The code of the language that the mail is in; empty where that is not known.
    language: String,
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
        Ok(MailBranding { branding, firm, language: String::new(), logo })
    }

    pub fn in_language(self, code: Option<String>) -> MailBranding {
        MailBranding { language: code.unwrap_or_default(), ..self }
    }

    pub fn look(&self) -> MailLook<'_> {
        let (width, height) = self.branding.logo_size();
        let pixels = |size: i64| u32::try_from(size).unwrap_or(1);
        MailLook {
            language: &self.language,
            colour: Some(self.branding.colour.as_str()).filter(|colour| !colour.is_empty()),
            logo: self.logo.as_ref().map(|logo| MailLogo {
                content_id: &logo.content_id,
                name: &self.firm,
                width: pixels(width),
                height: pixels(height),
            }),
        }
    }

    /// The HTML of a plain text.
    pub fn html(&self, text: &str) -> String {
        let body = MessageBody {
            text,
            markdown: None,
            signature: "",
            earlier: None,
            pictures: PictureUrls { before: "", behind: "" },
            sections: &[],
            look: self.look(),
        };
        body.html()
    }

    /// The files that its HTML names.
    pub fn files(self) -> Vec<InlineFile> {
        self.logo.into_iter().collect()
    }
}
