//! Reports: the figures of a span, and the counters that they are read from.

mod backfill;
mod figures;
mod fold;
mod names;
mod series;
mod span;

pub use backfill::backfill;
pub use figures::{
    DocumentFigures, DraftFigures, InboxFigures, MemberFigures, NamedFigures, ReportFigures,
    TargetFigures, TimeFigures, WaitingFigures, figures,
};
pub use fold::fold;
pub use series::ReportStep;
pub use span::ReportSpan;
