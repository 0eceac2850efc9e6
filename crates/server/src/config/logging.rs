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
    /// A word alone is a level. The library would take any other for a place in the code,
    /// and keep silent about all the rest: `verbose` would turn the log off.
    pub(crate) fn parse(text: &str) -> Result<Self, Wrong> {
        let wrong = |why: &str| {
            Wrong::new(
                format!("`{text}` is not a log filter: {why}"),
                "Write a level such as info, or pairs such as info,request=warn. The levels are \
                 error, warn, info, debug, trace and off.",
            )
        };
        let parts = || text.split(',').map(str::trim);
        let alone = parts().filter(|part| !part.contains('=') && !part.is_empty());
        for word in alone {
            if word.parse::<LevelFilter>().is_err() {
                return Err(wrong(&format!("there is no level `{word}`")));
            }
        }
        let tidy = parts().collect::<Vec<_>>().join(",");
        let targets = tidy.parse().map_err(|fault| wrong(&format!("{fault}")))?;
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
        let filter = LogFilter::parse("warn, request=debug").unwrap().targets();
        assert!(filter.would_enable("order", &Level::WARN));
        assert!(!filter.would_enable("order", &Level::INFO));
        assert!(filter.would_enable("request", &Level::DEBUG));
        assert!(!LogFilter::parse("off").unwrap().targets().would_enable("order", &Level::ERROR));
    }

    #[test]
    fn a_word_that_is_no_level_is_a_fault_and_does_not_silence_the_rest() {
        for (text, why) in [
            ("verbose", "there is no level `verbose`"),
            ("info,request", "there is no level `request`"),
        ] {
            let wrong = LogFilter::parse(text).unwrap_err();
            assert_eq!(wrong.problem, format!("`{text}` is not a log filter: {why}"));
        }
        assert!(LogFilter::parse("request=loud").is_err());
    }
}
