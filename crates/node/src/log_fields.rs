//! How the fields of a span are written into the text of a log line.

use std::fmt;

use tracing::span::Record;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormattedFields;
use tracing_subscriber::fmt::format::{DefaultFields, FormatFields, Writer};

/// As usual, but a field that is recorded again with the same value is written once: a request reads
/// who asks in each of its transactions, and a transaction may run again.
pub struct SpanFields;

impl<'writer> FormatFields<'writer> for SpanFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        DefaultFields::new().format_fields(writer, fields)
    }

    fn add_fields(
        &self,
        current: &'writer mut FormattedFields<Self>,
        fields: &Record<'_>,
    ) -> fmt::Result {
        let mut added = String::new();
        DefaultFields::new().format_fields(Writer::new(&mut added), fields)?;
        if current.fields.split(' ').any(|field| field == added) {
            return Ok(());
        }
        if !current.fields.is_empty() {
            current.fields.push(' ');
        }
        current.fields.push_str(&added);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Mutex;

    use tracing::field::Empty;

    use super::*;

    #[test]
    fn a_field_that_is_recorded_twice_is_written_once() {
        let (mut log, writer) = std::io::pipe().expect("a pipe");
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .fmt_fields(SpanFields)
            .with_writer(Mutex::new(writer))
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::error_span!("request", id = 12, workspace = Empty, actor = Empty);
            for _ in 0..2 {
                span.record("workspace", 1).record("actor", tracing::field::display("usr_1"));
            }
            span.in_scope(|| tracing::error!("told"));
        });
        let mut told = String::new();
        log.read_to_string(&mut told).expect("text");
        assert!(told.contains("request{id=12 workspace=1 actor=usr_1}: "), "{told}");
    }
}
