//! Every limit of reading calendars and making slots, by name and with its unit.

/// Bytes of a feed; a larger one is refused.
pub const FEED_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of one unfolded line; a longer one is skipped. Pictures inside events are this long.
pub const LINE_BYTES: usize = 256 * 1024;
/// Components inside one another; a feed with more is refused.
pub const COMPONENT_DEPTH: usize = 16;
/// Events of a feed, busy periods included; a feed with more is refused.
pub const FEED_EVENTS: usize = 50_000;
/// Time zone names of a feed; times in further ones count as floating.
pub const FEED_ZONES: usize = 500;
/// Rules and dates at which a feed's own time zone changes its offset; further ones are ignored.
pub const ZONE_OBSERVANCES: usize = 100;
/// Parameters of one line; further ones are ignored.
pub const LINE_PARAMETERS: usize = 50;
/// Recurrence rules of one event; further ones are ignored.
pub const EVENT_RULES: usize = 10;
/// Numbers in one part of a recurrence rule; a rule with more is refused. `BYYEARDAY` has the most.
pub const RULE_NUMBERS: usize = 732;
/// Added and excluded dates of one event; further ones are ignored.
pub const EVENT_DATES: usize = 20_000;
/// Attendees of one event; further ones are ignored.
pub const EVENT_ATTENDEES: usize = 500;
/// Steps of work in expanding one feed: days looked at, and occurrences found.
pub const EXPANSION_STEPS: u64 = 20_000_000;
/// Busy intervals of a feed within the asked window; a feed with more is refused.
pub const BUSY_INTERVALS: usize = 250_000;
/// Days of the window that busy times are asked for.
pub const BUSY_DAYS: i64 = 800;
/// Characters of a UID.
pub const UID_CHARS: usize = 1_000;
/// Characters of a summary, a location, a name or an address that is shown.
pub const SHOWN_CHARS: usize = 500;
/// Characters of a description that is shown.
pub const DESCRIPTION_CHARS: usize = 10_000;
/// Events of an invitation that are shown.
pub const SHOWN_EVENTS: usize = 50;
/// Octets of a written line, without its end (RFC 5545 3.1).
pub const FOLD_OCTETS: usize = 75;

/// Ranges of hours on one day.
pub const DAY_RANGES: usize = 24;
/// Days that slots may be asked for at once.
pub const SLOT_DAYS: i64 = 31;
/// Slots given in one answer.
pub const SLOTS_GIVEN: usize = 500;
/// Hosts of one booking type.
pub const SLOT_HOSTS: usize = 50;
