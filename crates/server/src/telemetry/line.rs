//! One line of the log, in which only allowed fields appear.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::config::logging::LogFormat;

/// The fields that are printed. All others are dropped, so that a field that was overlooked
/// cannot write a name or a postal address to the log. Add a field only if no value of it can
/// come from a request.
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
    // Hashes of transactions, which are public on the chain.
    "transaction",
    "replacement",
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
    "paid_requests_left",
    "reconciler_left",
    "lapsed",
    "dropped",
    "provider_account",
    "place",
    "column",
    // The error text of a database, which only receives encrypted cards.
    "fault",
    // A facilitator's reason about a catalog. It receives payments and no cards.
    "reason",
    // The type of a database cell, such as TEXT, and never its value.
    "found",
];

/// The crates whose messages are printed. Messages of other crates may contain headers or rows,
/// so only their level and target are printed.
pub(super) const OUR_TARGETS: &[&str] = &[
    "request",
    "pennyblack",
    "adapters",
    "content",
    "evm",
    "order",
    "pay",
    "payer",
    "sandbox",
    "web",
];

/// Prints events with allowed fields only. Spans are not printed.
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
        let mut line = Line { format: self.0, origin: Origin::of(target), writer, written: Ok(()) };
        event.record(&mut line);
        line.written?;
        match self.0 {
            LogFormat::Text => line.writer.write_str("\n"),
            LogFormat::Json => line.writer.write_str("}\n"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Ours,
    Foreign,
}

impl Origin {
    fn of(target: &str) -> Self {
        let crate_name = target.split("::").next().unwrap_or(target);
        if OUR_TARGETS.contains(&crate_name) { Origin::Ours } else { Origin::Foreign }
    }
}

struct Line<'w> {
    format: LogFormat,
    origin: Origin,
    writer: Writer<'w>,
    /// A visitor cannot return an error, so the first one is kept until the end.
    written: fmt::Result,
}

impl Line<'_> {
    fn record(&mut self, field: &Field, value: Printed<'_>) {
        let allowed = self.origin == Origin::Ours && ALLOWED.contains(&field.name());
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
            Printed::Text(text) => write!(Escaped(&mut self.writer), "{text}"),
        }
    }

    fn json(&mut self, name: &str, value: Printed<'_>) -> fmt::Result {
        write!(self.writer, r#","{name}":"#)?;
        match value {
            Printed::Bare(number) => write!(self.writer, "{number}"),
            Printed::Text(text) => {
                self.writer.write_char('"')?;
                write!(Escaped(&mut self.writer), "{text}")?;
                self.writer.write_char('"')
            }
        }
    }
}

enum Printed<'a> {
    /// A number or a bool, the same in text and JSON.
    Bare(fmt::Arguments<'a>),
    Text(fmt::Arguments<'a>),
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
        self.record(field, Printed::Text(format_args!("{value}")));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record(field, Printed::Text(format_args!("{value:?}")));
    }
}

/// Escapes quotes, line breaks and control characters as JSON does.
struct Escaped<'w, W>(&'w mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
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
