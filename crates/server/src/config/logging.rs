//! What the log says, and in which form.

use tracing_subscriber::filter::{LevelFilter, Targets};

use super::fault::Wrong;
use super::values::{Shown, choose};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl LogFormat {
    pub(crate) fn parse(text: &str) -> Result<Self, Wrong> {
        choose(text, &[("text", LogFormat::Text), ("json", LogFormat::Json)])
    }
}

impl Shown for LogFormat {
    fn shown(&self) -> String {
        match self {
            LogFormat::Text => "text".to_owned(),
            LogFormat::Json => "json".to_owned(),
        }
    }
}

/// How much is said, in all and about what.
#[derive(Clone, Debug)]
pub(crate) struct LogFilter {
    written: String,
    targets: Targets,
}

impl LogFilter {
    /// A word alone is a level. The library's own reader would take any other for a place
    /// in the code and keep silent about all the rest: `verbose` would turn the log off.
    pub(crate) fn parse(text: &str) -> Result<Self, Wrong> {
        let wrong = |why: &str| {
            Wrong::new(
                format!("`{text}` is not a log filter: {why}"),
                "Write a level such as info, or pairs such as info,request=warn. The levels are \
                 error, warn, info, debug, trace and off.",
            )
        };
        if text.split(',').all(|part| part.trim().is_empty()) {
            return Err(wrong("it is empty"));
        }
        let mut targets = Targets::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (target, level) = match part.split_once('=') {
                Some((target, level)) => (Some(target.trim()), level.trim()),
                None => (None, part),
            };
            if target.is_some_and(|target| target.is_empty() || target.contains(['[', ']'])) {
                return Err(wrong(&format!("`{part}` names no part of the program")));
            }
            // The library takes no level at all for `error`.
            let level: LevelFilter = match level.parse() {
                Ok(known) if !level.is_empty() => known,
                Ok(_) | Err(_) => return Err(wrong(&format!("there is no level `{level}`"))),
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

impl Shown for LogFilter {
    fn shown(&self) -> String {
        self.written.clone()
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn levels_and_pairs_say_how_much_is_logged() {
        for text in ["warn,request=debug", "warn, request = debug,", ",request=debug,,warn"] {
            let filter = LogFilter::parse(text).unwrap().targets();
            assert!(filter.would_enable("order", &Level::WARN), "{text}");
            assert!(!filter.would_enable("order", &Level::INFO), "{text}");
            assert!(filter.would_enable("request", &Level::DEBUG), "{text}");
        }
        assert!(!LogFilter::parse("off").unwrap().targets().would_enable("order", &Level::ERROR));
    }

    #[test]
    fn what_would_silence_the_log_unnoticed_is_a_fault() {
        for (text, why) in [
            ("", "it is empty"),
            (" ,", "it is empty"),
            ("verbose", "there is no level `verbose`"),
            ("info,request", "there is no level `request`"),
            ("request=loud", "there is no level `loud`"),
            ("request=", "there is no level ``"),
            ("info,=debug", "`=debug` names no part of the program"),
            ("info,request[send]=debug", "`request[send]=debug` names no part of the program"),
        ] {
            let wrong = LogFilter::parse(text).unwrap_err();
            assert_eq!(wrong.problem, format!("`{text}` is not a log filter: {why}"));
        }
    }
}
