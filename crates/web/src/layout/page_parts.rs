//! The parts that every page of the app has in common, each a template of its own: what a page includes is compiled
//! into that page once more.

use askama::Template;

use crate::layout::filters;
use crate::layout::page_layout::PageLayout;

#[derive(Template)]
#[template(path = "page_head.html", whitespace = "minimize")]
pub struct PageHead<'a> {
    frame: &'a PageLayout,
}

#[derive(Template)]
#[template(path = "nav.html", whitespace = "minimize")]
pub struct Navigation<'a> {
    frame: &'a PageLayout,
}

#[derive(Template)]
#[template(path = "news.html", whitespace = "minimize")]
pub struct News<'a> {
    frame: &'a PageLayout,
}

#[derive(Template)]
#[template(path = "settings_menu.html", whitespace = "minimize")]
pub struct SettingsMenu<'a> {
    frame: &'a PageLayout,
}

impl PageLayout {
    pub fn head(&self) -> PageHead<'_> {
        PageHead { frame: self }
    }

    pub fn navigation(&self) -> Navigation<'_> {
        Navigation { frame: self }
    }

    /// What just happened, and the message that can still be stopped.
    pub fn news(&self) -> News<'_> {
        News { frame: self }
    }

    pub fn settings_menu(&self) -> SettingsMenu<'_> {
        SettingsMenu { frame: self }
    }
}
