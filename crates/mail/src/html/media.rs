//! When the rules of a style sheet hold, by the screens that they are for. A mail is read in a window
//! on a desk more often than not, and what such a window hides is hidden from whoever reads it there.

/// Pixels of the narrowest screen that mail is read on.
const NARROWEST_PX: f32 = 240.0;
/// Pixels of the widest screen.
const WIDEST_PX: f32 = 6_000.0;
/// Pixels of the narrowest window on a desk.
const NARROW_WINDOW_PX: f32 = 700.0;
/// Pixels of the widest window that is usual.
const WIDE_WINDOW_PX: f32 = 2_000.0;
/// Pixels of an `em` in a condition, whatever the page says.
const EM_PX: f32 = 16.0;

/// When a rule holds, from the most to the least often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holding {
    #[default]
    Always,
    /// In a window on a desk, and perhaps not on a telephone.
    Usually,
    /// On some screens only.
    Sometimes,
}

/// When the rules of a style block hold by its `media` attribute; `None` where they never do.
pub(super) fn holding_of_attribute(media: &str) -> Option<Holding> {
    match media.trim() {
        "" => Some(Holding::Always),
        media => Some(holding_of(media)).filter(|holding| *holding != Holding::Sometimes),
    }
}

/// When the rules within `@media` hold: as often as the most lenient of its conditions.
pub(super) fn holding_of(condition: &str) -> Holding {
    condition.split(',').map(holding_of_one).min().unwrap_or(Holding::Sometimes)
}

/// As often as the strictest of its parts.
fn holding_of_one(condition: &str) -> Holding {
    let condition = condition.trim();
    let condition = condition.strip_prefix("only ").unwrap_or(condition);
    let parts = condition.split(" and ").flat_map(|part| part.split(")and")).map(str::trim);
    parts.map(holding_of_part).max().unwrap_or(Holding::Sometimes)
}

fn holding_of_part(part: &str) -> Holding {
    if matches!(part, "all" | "screen") {
        return Holding::Always;
    }
    let feature = part.trim_start_matches('(').trim_end_matches(')');
    let Some((name, value)) = feature.split_once(':') else { return Holding::Sometimes };
    let Some(px) = px(value.trim()) else { return Holding::Sometimes };
    match name.trim() {
        "min-width" | "min-device-width" if px <= NARROWEST_PX => Holding::Always,
        "min-width" | "min-device-width" if px <= NARROW_WINDOW_PX => Holding::Usually,
        "max-width" | "max-device-width" if px >= WIDEST_PX => Holding::Always,
        "max-width" | "max-device-width" if px >= WIDE_WINDOW_PX => Holding::Usually,
        "-webkit-min-device-pixel-ratio" if px <= 1.0 => Holding::Always,
        _ => Holding::Sometimes,
    }
}

fn px(value: &str) -> Option<f32> {
    let end = value.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')));
    let (number, unit) = value.split_at(end.unwrap_or(value.len()));
    let number: f32 = number.parse().ok().filter(|number: &f32| number.is_finite())?;
    match unit.trim() {
        "" | "px" => Some(number),
        "em" | "rem" => Some(number * EM_PX),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_on_every_screen_on_desks_or_on_some() {
        for (condition, expected) in [
            ("all", Holding::Always),
            ("only screen", Holding::Always),
            ("(min-width:1px)", Holding::Always),
            ("screen and (min-width: 0)", Holding::Always),
            ("(max-width: 9999px)", Holding::Always),
            ("print, (min-width:1px)", Holding::Always),
            ("(min-width: 480px)", Holding::Usually),
            ("screen and (min-width:37.5em)", Holding::Usually),
            ("(min-width:1px) and (max-width:600px)", Holding::Sometimes),
            ("(max-width:600px)", Holding::Sometimes),
            ("print", Holding::Sometimes),
            ("not all", Holding::Sometimes),
            ("(prefers-color-scheme:dark)", Holding::Sometimes),
            ("", Holding::Sometimes),
        ] {
            assert_eq!(holding_of(condition), expected, "{condition}");
        }
    }
}
