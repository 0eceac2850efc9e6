//! The format and the filter of the log.

use tracing_subscriber::filter::{LevelFilter, Targets};

use super::fault::SettingProblem;
use super::values::{ReportText, choose};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl LogFormat {
    pub(crate) fn parse(text: &str) -> Result<Self, SettingProblem> {
        choose(text, &[("text", LogFormat::Text), ("json", LogFormat::Json)])
    }
}

impl ReportText for LogFormat {
    fn report_text(&self) -> String {
        match self {
            LogFormat::Text => "text".to_owned(),
            LogFormat::Json => "json".to_owned(),
        }
    }
}

/// The log level, in general and for single targets.
#[derive(Clone, Debug)]
pub(crate) struct LogLevels {
    written: String,
    targets: Targets,
}

impl LogLevels {
    /// A single word must be a level. The parser of the library takes any other word for a
    /// target and disables the rest: `verbose` would turn the log off.
    pub(crate) fn parse(text: &str) -> Result<Self, SettingProblem> {
        let invalid = |why: &str| {
            SettingProblem::new(
                format!("`{text}` is not a log filter: {why}"),
                "Write a level such as info, or pairs such as info,request=warn. The levels are \
                 error, warn, info, debug, trace and off.",
            )
        };
        if text.split(',').all(|part| part.trim().is_empty()) {
            return Err(invalid("it is empty"));
        }
        let mut targets = Targets::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (target, level) = match part.split_once('=') {
                Some((target, level)) => (Some(target.trim()), level.trim()),
                None => (None, part),
            };
            if target.is_some_and(|target| target.is_empty() || target.contains(['[', ']'])) {
                return Err(invalid(&format!("`{part}` has no valid target")));
            }
            // The library takes an empty level for `error`.
            let level: LevelFilter = match level.parse() {
                Ok(known) if !level.is_empty() => known,
                Ok(_) | Err(_) => return Err(invalid(&format!("there is no level `{level}`"))),
            };
            targets = match target {
                Some(target) => targets.with_target(target, level),
                None => targets.with_default(level),
            };
        }
        Ok(Self { written: text.to_owned(), targets })
    }

    pub(crate) fn targets(&self) -> Targets {
        self.targets.clone()
    }
}

impl ReportText for LogLevels {
    fn report_text(&self) -> String {
        self.written.clone()
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn levels_and_pairs_set_what_is_logged() {
        for text in ["warn,request=debug", "warn, request = debug,", ",request=debug,,warn"] {
            let filter = LogLevels::parse(text).unwrap().targets();
            assert!(filter.would_enable("order", &Level::WARN), "{text}");
            assert!(!filter.would_enable("order", &Level::INFO), "{text}");
            assert!(filter.would_enable("request", &Level::DEBUG), "{text}");
        }
        assert!(!LogLevels::parse("off").unwrap().targets().would_enable("order", &Level::ERROR));
    }

    #[test]
    fn a_filter_that_would_disable_the_log_by_mistake_is_rejected() {
        for (text, why) in [
            ("", "it is empty"),
            (" ,", "it is empty"),
            ("verbose", "there is no level `verbose`"),
            ("info,request", "there is no level `request`"),
            ("request=loud", "there is no level `loud`"),
            ("request=", "there is no level ``"),
            ("info,=debug", "`=debug` has no valid target"),
            ("info,request[send]=debug", "`request[send]=debug` has no valid target"),
        ] {
            let problem = LogLevels::parse(text).unwrap_err();
            assert_eq!(problem.message, format!("`{text}` is not a log filter: {why}"));
        }
    }
}
