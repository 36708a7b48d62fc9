//! Reports: the figures of a span, the counters that they are read from, and the report that is mailed.

mod backfill;
mod figures;
mod fold;
mod hours;
pub mod mailing;
mod names;
mod satisfaction;
mod series;
mod span;
pub mod tables;
mod targets;

pub use backfill::backfill;
pub use figures::{
    DocumentFigures, DraftFigures, InboxFigures, MemberFigures, NamedFigures, ReportFigures,
    TargetFigures, TimeFigures, WaitingFigures, figures, figures_without_hours,
};
pub use fold::fold;
pub use satisfaction::{
    RatedInboxFigures, RatedPartFigures, RatedPartKind, SatisfactionFigures, ScoreFigures,
};
pub use series::ReportStep;
pub use span::ReportSpan;
pub use targets::{ReportTargets, report_targets};
