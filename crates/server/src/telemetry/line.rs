//! One line of the log, in which only allowed fields appear.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::config::logging::LogFormat;

/// The fields that may be printed. Everything else is dropped, so that a field
/// which nobody thought of cannot carry a name or an address into the log. Add
/// one here only if no value of it can ever come from a caller's words.
pub(crate) const ALLOWED: &[&str] = &[
    "message",
    "method",
    "route",
    "status",
    "duration_ms",
    "request_id",
    "order.id",
    "order.state",
    "network",
    "code",
    "attempt",
    "count",
    "kind",
    "listen",
    "mode",
    "store",
    "location",
    "signal",
    "connections_left",
    "walks_left",
    "reconciler_left",
    "lapsed",
    "dropped",
    "looked_into",
    "place",
    "column",
    // An error's own words, from a database that is only ever given sealed cards.
    "fault",
    // The type of a cell, such as TEXT, and never what stands in it.
    "found",
];

/// Whose sentences may be printed. Other crates put whatever they like into
/// theirs, such as headers and rows; of them only level and origin are kept.
const OUR_TARGETS: &[&str] =
    &["request", "pennyblack", "order", "pay", "content", "adapters", "sandbox", "web"];

/// Spans are not printed at all: no part of the house needs them.
pub(crate) struct AllowedFields(pub LogFormat);

impl<S, N> FormatEvent<S, N> for AllowedFields
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let (level, target) = (event.metadata().level(), event.metadata().target());
        match self.0 {
            LogFormat::Text => {
                SystemTime.format_time(&mut writer)?;
                write!(writer, " {level:>5} {target}:")?;
            }
            LogFormat::Json => {
                writer.write_str(r#"{"time":""#)?;
                SystemTime.format_time(&mut writer)?;
                write!(writer, r#"","level":"{level}","target":"{target}""#)?;
            }
        }
        let mut line = Line { format: self.0, author: Author::of(target), writer, written: Ok(()) };
        event.record(&mut line);
        line.written?;
        match self.0 {
            LogFormat::Text => line.writer.write_str("\n"),
            LogFormat::Json => line.writer.write_str("}\n"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Author {
    Ours,
    Foreign,
}

impl Author {
    fn of(target: &str) -> Self {
        let crate_name = target.split("::").next().unwrap_or(target);
        if OUR_TARGETS.contains(&crate_name) { Author::Ours } else { Author::Foreign }
    }
}

struct Line<'w> {
    format: LogFormat,
    author: Author,
    writer: Writer<'w>,
    /// Visitors cannot fail, so the first failure is kept until the end.
    written: fmt::Result,
}

impl Line<'_> {
    fn record(&mut self, field: &Field, value: Printed<'_>) {
        let allowed = self.author == Author::Ours && ALLOWED.contains(&field.name());
        if allowed && self.written.is_ok() {
            self.written = match self.format {
                LogFormat::Text => self.text(field.name(), value),
                LogFormat::Json => self.json(field.name(), value),
            };
        }
    }

    fn text(&mut self, name: &str, value: Printed<'_>) -> fmt::Result {
        match name {
            "message" => self.writer.write_char(' ')?,
            name => write!(self.writer, " {name}=")?,
        }
        match value {
            Printed::Bare(number) => write!(self.writer, "{number}"),
            Printed::Words(words) => write!(Escaped(&mut self.writer), "{words}"),
        }
    }

    fn json(&mut self, name: &str, value: Printed<'_>) -> fmt::Result {
        write!(self.writer, r#","{name}":"#)?;
        match value {
            Printed::Bare(number) => write!(self.writer, "{number}"),
            Printed::Words(words) => {
                self.writer.write_char('"')?;
                write!(Escaped(&mut self.writer), "{words}")?;
                self.writer.write_char('"')
            }
        }
    }
}

enum Printed<'a> {
    /// A number or a truth value, the same in text and JSON.
    Bare(fmt::Arguments<'a>),
    Words(fmt::Arguments<'a>),
}

impl Visit for Line<'_> {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record(field, Printed::Bare(format_args!("{value}")));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record(field, Printed::Bare(format_args!("{value}")));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.record(field, Printed::Bare(format_args!("{value}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record(field, Printed::Words(format_args!("{value}")));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record(field, Printed::Words(format_args!("{value:?}")));
    }
}

/// Keeps a value on its line and away from the terminal's controls, in the way
/// that JSON writes strings.
struct Escaped<'w, W>(&'w mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        for letter in words.chars() {
            match letter {
                '"' => self.0.write_str("\\\"")?,
                '\\' => self.0.write_str("\\\\")?,
                letter if letter.is_control() => write!(self.0, "\\u{:04x}", u32::from(letter))?,
                letter => self.0.write_char(letter)?,
            }
        }
        Ok(())
    }
}
