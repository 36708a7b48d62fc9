//! CSS as far as it makes words invisible: what an element declares, and how its text then looks.

use super::element::Attributes;

/// Pixels up to which letters cannot be read.
const TINY_PX: f32 = 2.0;
/// Pixels up to which a box that cuts off what is larger shows nothing.
const FLAT_PX: f32 = 1.0;
/// Pixels of the size from which others are reckoned.
const USUAL_PX: f32 = 16.0;
/// Pixels beyond which a place is off every screen.
const OFF_SCREEN_PX: f32 = 500.0;
/// What each part of two colours may differ by to look the same.
const SAME_SHADE: u8 = 16;
/// The distance between letters, in sizes of the font, from which on all stand in one place.
const HEAPED_EM: f32 = -0.4;
/// The height of a line, in sizes of the font, of which a box that cuts off shows nothing.
const LOW_EM: f32 = 0.1;
/// The part of 255 below which a colour cannot be seen.
const CLEAR_ALPHA: u8 = 13;
/// Bytes of an element's declarations that are read.
const DECLARED_BYTES: usize = 16 * 1024;

/// A colour, where it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shade {
    Rgb(u8, u8, u8),
    Transparent,
    /// A picture, a gradient, or a rule that may or may not hold.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Size {
    Px(f32),
    Times(f32),
}

/// What an element declares about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StyleDeclarations {
    display_none: Option<bool>,
    visible: Option<bool>,
    clear: Option<bool>,
    clips: Option<bool>,
    flat: Option<bool>,
    away: Option<bool>,
    positioned: Option<bool>,
    shifted: Option<bool>,
    not_in_outlook: bool,
    size: Option<Size>,
    indent: Option<f32>,
    /// Letters or lines stand on one another.
    heaped: Option<bool>,
    /// A box is too low for a line of text.
    low: Option<bool>,
    pub ink: Option<Shade>,
    pub paper: Option<Shade>,
    /// A rule that may or may not hold declares something as well.
    pub doubtful: bool,
}

/// Declarations as the cascade takes them: important ones count for more than all others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CascadedStyles {
    pub normal: StyleDeclarations,
    pub important: StyleDeclarations,
}

impl CascadedStyles {
    /// Declarations as they stand in a `style` attribute or a rule, in lower case.
    pub fn parse(style: &str) -> CascadedStyles {
        let cut = style.floor_char_boundary(DECLARED_BYTES);
        let mut styles = CascadedStyles::default();
        for declaration in style[..cut].split(';') {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            match value.rsplit_once('!') {
                Some((value, word)) if word.trim() == "important" => {
                    styles.important.declare(name.trim(), value.trim());
                }
                _ => styles.normal.declare(name.trim(), value.trim()),
            }
        }
        styles.normal.doubtful = cut < style.len();
        styles
    }

    /// Takes over what another declares, which counts for more.
    pub fn overridden_by(&mut self, other: &CascadedStyles) {
        self.normal.overridden_by(&other.normal);
        self.important.overridden_by(&other.important);
    }

    /// What holds in the end.
    pub fn resolve(&self) -> StyleDeclarations {
        let mut declared = self.normal;
        declared.overridden_by(&self.important);
        declared
    }

    /// What a rule leaves to know that may or may not hold for an element.
    pub fn uncertain(self) -> CascadedStyles {
        let (normal, important) = (self.normal.uncertain(), self.important.uncertain());
        CascadedStyles { normal, important }
    }

    /// The same declarations of a rule that may not hold for every reader.
    pub fn doubt(self) -> CascadedStyles {
        let normal = StyleDeclarations { doubtful: true, ..self.normal };
        CascadedStyles { normal, ..self }
    }

    /// What a rule leaves to know that holds in some states or on some screens only.
    pub fn occasional(self) -> CascadedStyles {
        let normal = StyleDeclarations { doubtful: true, ..StyleDeclarations::default() };
        CascadedStyles { normal, important: StyleDeclarations::default() }
    }
}

impl StyleDeclarations {
    fn declare(&mut self, name: &str, value: &str) {
        let flat = || px(value).is_some_and(|px| px <= FLAT_PX);
        match name {
            "display" => self.display_none = Some(value == "none"),
            "visibility" => self.visible = Some(!matches!(value, "hidden" | "collapse")),
            "opacity" => self.clear = Some(number(value).is_some_and(|part| part < 0.05)),
            "overflow" | "overflow-x" | "overflow-y" => {
                self.clips = Some(matches!(value, "hidden" | "clip"));
            }
            "max-height" | "height" | "max-width" | "width" => {
                // One of them is enough; a later height does not undo a width.
                self.flat = Some(flat() || self.flat == Some(true));
            }
            "position" => self.positioned = Some(matches!(value, "absolute" | "fixed")),
            "left" | "top" | "right" | "bottom" => self.shifted = shift(self.shifted, value),
            "margin-left" | "margin-top" | "margin" => self.away = shift(self.away, value),
            "clip" | "clip-path" => {
                let nothing = ["rect(0", "rect(1px", "inset(100%", "inset(50%", "circle(0"];
                self.away = Some(nothing.iter().any(|shape| value.starts_with(shape)));
            }
            "transform" | "scale" | "translate" => self.away = Some(moves_away(name, value)),
            "filter" => self.clear = Some(value.contains("opacity(0")),
            "content-visibility" => self.display_none = Some(value == "hidden"),
            "text-indent" => self.indent = px(value),
            "letter-spacing" => self.heaped = Some(em(value).is_some_and(|em| em <= HEAPED_EM)),
            "line-height" => self.low = Some(em(value).is_some_and(|em| em <= LOW_EM)),
            "-webkit-text-fill-color" => self.ink = shade(value).or(self.ink),
            "mso-hide" => self.not_in_outlook = value == "all",
            "font-size" => self.size = size(value),
            // `font: 0/0 a` and its likes; the size stands before the slash.
            "font" => {
                let words = value.split([' ', '/']);
                self.size = words.map(size).find(Option::is_some).flatten().or(self.size);
            }
            "color" => self.ink = shade(value).or(self.ink),
            "background-color" | "background" => self.paper = paper(value).or(self.paper),
            "background-image" if value != "none" => self.paper = Some(Shade::Unknown),
            _ => {}
        }
    }

    /// Takes over what another declares, which counts for more.
    pub fn overridden_by(&mut self, other: &StyleDeclarations) {
        self.display_none = other.display_none.or(self.display_none);
        self.visible = other.visible.or(self.visible);
        self.clear = other.clear.or(self.clear);
        self.clips = other.clips.or(self.clips);
        self.flat = other.flat.or(self.flat);
        self.away = other.away.or(self.away);
        self.positioned = other.positioned.or(self.positioned);
        self.shifted = other.shifted.or(self.shifted);
        self.not_in_outlook |= other.not_in_outlook;
        self.size = other.size.or(self.size);
        self.indent = other.indent.or(self.indent);
        self.heaped = other.heaped.or(self.heaped);
        self.low = other.low.or(self.low);
        self.ink = other.ink.or(self.ink);
        self.paper = other.paper.or(self.paper);
        self.doubtful |= other.doubtful;
    }

    fn uncertain(self) -> StyleDeclarations {
        let unknown = |shade: Option<Shade>| shade.map(|_| Shade::Unknown);
        StyleDeclarations {
            ink: unknown(self.ink),
            paper: unknown(self.paper),
            doubtful: self != StyleDeclarations::default(),
            ..StyleDeclarations::default()
        }
    }

    /// True when nothing within the element is seen, whatever stands in it. What only Outlook hides
    /// is seen where it has a form of its own: buttons are made so.
    pub fn conceals(&self) -> bool {
        let is = |told: Option<bool>| told == Some(true);
        is(self.display_none)
            || is(self.clear)
            || is(self.away)
            || (is(self.clips) && (is(self.flat) || is(self.low)))
            || (is(self.clips) && self.indent.is_some_and(|indent| indent >= OFF_SCREEN_PX))
            || (is(self.positioned) && is(self.shifted))
            || (self.not_in_outlook && self.display_none.is_none())
    }
}

/// What the browser's own rules declare, where the mail does not.
pub(super) fn usual(tag: &str, attributes: &Attributes, declared: &mut StyleDeclarations) {
    // Links have a colour of their own; who colours the whole page leaves it to the reader's program
    // to keep the text readable.
    let is_page = matches!(tag, "body" | "html") && declared.paper.is_some();
    if declared.ink.is_none() && (is_page || (tag == "a" && attributes.href.is_some())) {
        declared.ink = Some(Shade::Unknown);
    }
}

/// How text looks, all open elements taken together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StyleEffect {
    visible: bool,
    px: f32,
    indent: f32,
    heaped: bool,
    ink: Shade,
    paper: Shade,
}

impl Default for StyleEffect {
    fn default() -> StyleEffect {
        let (ink, paper) = (Shade::Rgb(0, 0, 0), Shade::Rgb(255, 255, 255));
        StyleEffect { visible: true, px: USUAL_PX, indent: 0.0, heaped: false, ink, paper }
    }
}

impl StyleEffect {
    /// The look of what stands in an element.
    pub fn within(self, declared: &StyleDeclarations) -> StyleEffect {
        StyleEffect {
            visible: declared.visible.unwrap_or(self.visible),
            px: match declared.size {
                Some(Size::Px(px)) => px,
                // A part of nothing is nothing; what is not tiny keeps to a readable size.
                Some(Size::Times(times)) => self.px * times,
                None => self.px,
            },
            indent: declared.indent.unwrap_or(self.indent),
            heaped: declared.heaped.unwrap_or(self.heaped),
            ink: declared.ink.unwrap_or(self.ink),
            paper: match declared.paper {
                Some(Shade::Transparent) | None => self.paper,
                Some(paper) => paper,
            },
        }
    }

    pub fn hides_text(&self) -> bool {
        let same = match (self.ink, self.paper) {
            (Shade::Transparent, _) => true,
            (Shade::Rgb(r, g, b), Shade::Rgb(pr, pg, pb)) => {
                let near = |one: u8, other: u8| one.abs_diff(other) <= SAME_SHADE;
                near(r, pr) && near(g, pg) && near(b, pb)
            }
            _ => false,
        };
        let tiny = self.px <= TINY_PX;
        same || !self.visible || tiny || self.heaped || self.indent <= -OFF_SCREEN_PX
    }
}

/// True for a shape that is shrunk to nothing or moved off the screen.
fn moves_away(property: &str, value: &str) -> bool {
    let shrunk = ["scale(0)", "scale(0,", "scalex(0)", "scaley(0)", "scale3d(0", "matrix(0,"];
    let edge = ["rotatex(90deg)", "rotatey(90deg)"];
    let far = value.split(['(', ')', ',', ' ']).filter_map(px).any(|px| px.abs() >= OFF_SCREEN_PX);
    let moved = (property == "translate" || value.contains("translate")) && far;
    let is_scale = property == "scale" && number(value) == Some(0.0);
    let plain: String = value.chars().filter(|c| *c != ' ').collect();
    moved || is_scale || shrunk.iter().chain(&edge).any(|shape| plain.contains(shape))
}

/// A length in sizes of the font, which is taken for the usual one.
fn em(value: &str) -> Option<f32> {
    let is_bare = value.ends_with(|c: char| c.is_ascii_digit());
    match size(value)? {
        // A bare number is a height of lines, in sizes of the font.
        Size::Px(times) if is_bare => Some(times),
        Size::Px(px) => Some(px / USUAL_PX),
        Size::Times(times) => Some(times),
    }
}

fn shift(before: Option<bool>, value: &str) -> Option<bool> {
    let far = value.split(' ').filter_map(px).any(|px| px <= -OFF_SCREEN_PX);
    Some(far || before == Some(true))
}

fn number(value: &str) -> Option<f32> {
    let end = value.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')));
    value[..end.unwrap_or(value.len())].parse().ok().filter(|number: &f32| number.is_finite())
}

/// A length in pixels; parts of something else are taken for what they usually come to.
fn px(value: &str) -> Option<f32> {
    match size(value)? {
        Size::Px(px) => Some(px),
        Size::Times(times) => Some(times * USUAL_PX),
    }
}

fn size(value: &str) -> Option<Size> {
    // Only what is a single length after all: `calc(0px)`, and what is multiplied by nothing.
    let inner = value.strip_prefix("calc(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(inner) = inner.map(str::trim) {
        let nothing = inner.split('*').skip(1).any(|by| number(by.trim()) == Some(0.0));
        return if nothing { Some(Size::Px(0.0)) } else { size(inner.trim_matches(['(', ')'])) };
    }
    let number = number(value)?;
    let unit =
        value.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    Some(match unit.trim() {
        "px" | "" => Size::Px(number),
        "pt" => Size::Px(number * 4.0 / 3.0),
        "em" | "ex" | "ch" => Size::Times(number),
        "rem" => Size::Px(number * USUAL_PX),
        "%" => Size::Times(number / 100.0),
        "in" => Size::Px(number * 96.0),
        "cm" => Size::Px(number * 38.0),
        "mm" => Size::Px(number * 3.8),
        "vw" | "vh" => Size::Px(number * 8.0),
        _ => return None,
    })
}

/// A background: its colour where it is only one.
fn paper(value: &str) -> Option<Shade> {
    if value.contains("url(") || value.contains("gradient") {
        return Some(Shade::Unknown);
    }
    shade(value).or_else(|| value.split(' ').find_map(shade))
}

/// A colour as CSS or an attribute writes it; `None` for what is none.
pub(super) fn shade(value: &str) -> Option<Shade> {
    let value = value.trim();
    if let Some(digits) = value.strip_prefix('#') {
        return hex(digits);
    }
    let function = value.strip_prefix("rgba(").or_else(|| value.strip_prefix("rgb("));
    if let Some(parts) = function.and_then(|rest| rest.strip_suffix(')')) {
        let parts: Vec<f32> = colour_parts(parts, 2.55);
        let part = |place: usize| parts.get(place).map(|part| part.clamp(0.0, 255.0) as u8);
        if parts.get(3).is_some_and(|alpha| *alpha < 0.05) {
            return Some(Shade::Transparent);
        }
        return Some(Shade::Rgb(part(0)?, part(1)?, part(2)?));
    }
    let function = value.strip_prefix("hsla(").or_else(|| value.strip_prefix("hsl("));
    if let Some(parts) = function.and_then(|rest| rest.strip_suffix(')')) {
        let parts: Vec<f32> = colour_parts(parts, 1.0);
        let clear = parts.get(3).is_some_and(|alpha| *alpha < 0.05);
        let light = parts.get(2).copied().unwrap_or(50.0);
        // At both ends all colours are the same.
        return Some(match clear {
            true => Shade::Transparent,
            false if light >= 97.0 => Shade::Rgb(255, 255, 255),
            false if light <= 3.0 => Shade::Rgb(0, 0, 0),
            false => Shade::Unknown,
        });
    }
    Some(match value {
        "white" => Shade::Rgb(255, 255, 255),
        "black" => Shade::Rgb(0, 0, 0),
        "transparent" => Shade::Transparent,
        "whitesmoke" | "snow" | "ivory" | "ghostwhite" | "azure" | "mintcream" | "floralwhite"
        | "aliceblue" | "honeydew" | "seashell" => Shade::Rgb(250, 250, 250),
        "gray" | "grey" => Shade::Rgb(128, 128, 128),
        "silver" => Shade::Rgb(192, 192, 192),
        "red" => Shade::Rgb(255, 0, 0),
        "green" => Shade::Rgb(0, 128, 0),
        "blue" => Shade::Rgb(0, 0, 255),
        "navy" => Shade::Rgb(0, 0, 128),
        "yellow" => Shade::Rgb(255, 255, 0),
        "inherit" | "initial" | "unset" | "none" | "" => return None,
        name if name.bytes().all(|b| b.is_ascii_hexdigit()) && name.len() == 6 => {
            return hex(name);
        }
        name if name.bytes().all(|b| b.is_ascii_alphabetic()) && name.len() > 2 => Shade::Unknown,
        _ => return None,
    })
}

/// The numbers of a colour; a percentage is worth so much of each, and of the fourth part a hundredth.
fn colour_parts(parts: &str, percent: f32) -> Vec<f32> {
    let parts = parts.split([',', ' ', '/']).filter(|part| !part.is_empty()).enumerate();
    let value = |(place, part): (usize, &str)| {
        let number = number(part)?;
        Some(match (part.ends_with('%'), place) {
            (true, 3) => number / 100.0,
            (true, _) => number * percent,
            (false, _) => number,
        })
    };
    parts.filter_map(value).collect()
}

fn hex(digits: &str) -> Option<Shade> {
    let part = |text: &str| u8::from_str_radix(text, 16).ok();
    let twice = |place: usize| part(digits.get(place..=place)?).map(|half| half * 17);
    let both = |place: usize| part(digits.get(place..place + 2)?);
    let clear = |alpha: Option<u8>| alpha.is_some_and(|alpha| alpha < CLEAR_ALPHA);
    match digits.len() {
        4 if clear(twice(3)) => Some(Shade::Transparent),
        8 if clear(both(6)) => Some(Shade::Transparent),
        3 | 4 => Some(Shade::Rgb(twice(0)?, twice(1)?, twice(2)?)),
        6 | 8 => Some(Shade::Rgb(both(0)?, both(2)?, both(4)?)),
        _ => None,
    }
}
