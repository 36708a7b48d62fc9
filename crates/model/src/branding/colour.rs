//! The colour of a workspace, and those that pages make of it: legible on light grounds and on dark ones
//! (WCAG 2.2, 1.4.3).

use std::fmt;

/// What words and their ground have at least between them.
const LEGIBLE: f64 = 4.5;
/// The darkest of the light grounds that links stand on, and the lightest of the dark ones.
const LIGHT_GROUND: BrandColour = BrandColour([0xe5, 0xea, 0xe7]);
const DARK_GROUND: BrandColour = BrandColour([0x2d, 0x35, 0x32]);
const BLACK: BrandColour = BrandColour([0; 3]);
/// What words on the colour are written in on dark pages.
const ON_DARK: BrandColour = BrandColour([0x0b, 0x0e, 0x0d]);
/// What the tint of a dark page begins with.
const DARK_SURFACE: BrandColour = BrandColour([0x16, 0x1b, 0x19]);
/// Steps on the way to black or white; after the last there is nothing left of a colour.
const STEPS: u8 = 100;

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrandColour([u8; 3]);

impl fmt::Display for BrandColour {
    /// `#0b5c61`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl BrandColour {
    pub const WHITE: BrandColour = BrandColour([0xff; 3]);

    /// `#0B5C61`, `0b5c61` or `#06c`.
    pub fn parse(text: &str) -> Option<BrandColour> {
        let digits = text.trim().trim_start_matches('#');
        let digits: Vec<u8> = digits
            .chars()
            .map(|c| c.to_digit(16).map(|digit| digit as u8))
            .collect::<Option<_>>()?;
        match digits.as_slice() {
            [r, g, b] => Some(BrandColour([r * 17, g * 17, b * 17])),
            [a, b, c, d, e, f] => Some(BrandColour([a * 16 + b, c * 16 + d, e * 16 + f])),
            _ => None,
        }
    }

    /// Darkened until it can be read on light grounds, and white words on it.
    pub fn for_light(self) -> BrandColour {
        self.until_legible(LIGHT_GROUND, BLACK)
    }

    /// Lightened until it can be read on dark grounds.
    pub fn for_dark(self) -> BrandColour {
        self.until_legible(DARK_GROUND, BrandColour::WHITE)
    }

    fn until_legible(self, ground: BrandColour, end: BrandColour) -> BrandColour {
        let steps =
            (0..=STEPS).map(|step| self.mixed_with(end, f64::from(step) / f64::from(STEPS)));
        let mut legible = steps.filter(|colour| colour.contrast(ground) >= LEGIBLE);
        legible.next().unwrap_or(end)
    }

    /// What is between two colours, from 1 to 21.
    pub fn contrast(self, other: BrandColour) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            match part <= 0.040_45 {
                true => part / 12.92,
                false => ((part + 0.055) / 1.055).powf(2.4),
            }
        };
        let [red, green, blue] = self.0.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// This colour with so much of another, from 0 to 1.
    fn mixed_with(self, other: BrandColour, share: f64) -> BrandColour {
        let mut mixed = self.0;
        for (part, other) in mixed.iter_mut().zip(other.0) {
            let value = f64::from(*part) * (1.0 - share) + f64::from(other) * share;
            *part = value.round().clamp(0.0, 255.0) as u8;
        }
        BrandColour(mixed)
    }

    /// The style sheet that gives pages of customers this colour in place of their own.
    pub fn style_sheet(self) -> String {
        let (light, dark) = (self.for_light(), self.for_dark());
        let pair = |name: &str, light: BrandColour, dark: BrandColour| {
            format!("--{name}:light-dark({light},{dark});")
        };
        [
            ":root{".to_owned(),
            pair("accent", light, dark),
            pair(
                "accent-strong",
                light.mixed_with(BLACK, 0.25),
                dark.mixed_with(BrandColour::WHITE, 0.3),
            ),
            pair("on-accent", BrandColour::WHITE, ON_DARK),
            pair(
                "accent-tint",
                BrandColour::WHITE.mixed_with(light, 0.08),
                DARK_SURFACE.mixed_with(dark, 0.1),
            ),
            "}\n".to_owned(),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_read_with_three_digits_and_with_six() {
        for (text, read) in [
            ("#7A4A12", Some("#7a4a12")),
            (" 7a4a12 ", Some("#7a4a12")),
            ("#06c", Some("#0066cc")),
            ("", None),
            ("#12345", None),
            ("#12345g", None),
            ("red;}body{display:none", None),
        ] {
            let found = BrandColour::parse(text).map(|colour| colour.to_string());
            assert_eq!(found.as_deref(), read, "{text}");
        }
    }

    #[test]
    fn black_and_white_are_furthest_apart() {
        assert!((BrandColour::WHITE.contrast(BLACK) - 21.0).abs() < 0.01);
        assert!((BrandColour::WHITE.contrast(BrandColour::WHITE) - 1.0).abs() < 0.01);
    }

    #[test]
    fn every_colour_becomes_one_that_can_be_read_on_light_and_on_dark_pages() {
        for text in ["#ffffff", "#000000", "#f2c14e", "#ff0000", "#00ff00", "#0000ff", "#7a4a12"] {
            let colour = BrandColour::parse(text).expect("a colour");
            let (light, dark) = (colour.for_light(), colour.for_dark());
            assert!(light.contrast(LIGHT_GROUND) >= LEGIBLE, "{text} {light}");
            assert!(light.contrast(BrandColour::WHITE) >= LEGIBLE, "{text} {light}");
            assert!(dark.contrast(DARK_GROUND) >= LEGIBLE, "{text} {dark}");
            assert!(dark.contrast(ON_DARK) >= LEGIBLE, "{text} {dark}");
        }
        let walnut = BrandColour::parse("#7a4a12").expect("a colour");
        assert_eq!(walnut.for_light(), walnut, "one that can be read stays");
    }

    #[test]
    fn the_style_sheet_sets_colours_and_nothing_else() {
        let sheet = BrandColour::parse("#7a4a12").expect("a colour").style_sheet();
        assert!(sheet.starts_with(":root{--accent:light-dark(#7a4a12,#"), "{sheet}");
        assert_eq!(sheet.matches("light-dark(").count(), 4, "{sheet}");
        assert!(sheet.ends_with(";}\n"), "{sheet}");
    }
}
