//! Which component of a calendar a line belongs to, however carelessly they are closed.

use super::FeedError;
use super::line::ContentLine;
use crate::limits::COMPONENT_DEPTH;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Calendar,
    Event,
    FreeBusy,
    Zone,
    /// STANDARD or DAYLIGHT inside a zone.
    Observance,
    /// Alarms, tasks, journals and what vendors add.
    Other,
}

/// The components that are open, the innermost last.
#[derive(Default)]
pub(super) struct OpenComponents {
    open: Vec<Component>,
}

impl OpenComponents {
    pub fn innermost(&self) -> Option<Component> {
        self.open.last().copied()
    }

    /// Opens the component of a BEGIN line. An event inside an event means that the first one was
    /// not closed: the components that this closes are returned, the innermost first.
    pub fn begin(&mut self, line: &ContentLine) -> Result<(Component, Vec<Component>), FeedError> {
        let component = component(&line.value);
        let is_new_part =
            matches!(component, Component::Event | Component::FreeBusy | Component::Zone);
        let closed = match self.open.iter().position(|open| *open == component) {
            Some(at) if is_new_part || component == Component::Calendar => self.close_from(at),
            _ => Vec::new(),
        };
        if self.open.len() >= COMPONENT_DEPTH {
            return Err(FeedError::TooDeep);
        }
        self.open.push(component);
        Ok((component, closed))
    }

    /// Closes the component of an END line with all that was left open inside it.
    pub fn end(&mut self, line: &ContentLine) -> Vec<Component> {
        let component = component(&line.value);
        match self.open.iter().rposition(|open| *open == component) {
            Some(at) => self.close_from(at),
            None => Vec::new(),
        }
    }

    fn close_from(&mut self, at: usize) -> Vec<Component> {
        self.open.drain(at..).rev().collect()
    }
}

fn component(name: &str) -> Component {
    match name.trim().to_ascii_uppercase().as_str() {
        "VCALENDAR" => Component::Calendar,
        "VEVENT" => Component::Event,
        "VFREEBUSY" => Component::FreeBusy,
        "VTIMEZONE" => Component::Zone,
        "STANDARD" | "DAYLIGHT" => Component::Observance,
        _ => Component::Other,
    }
}
