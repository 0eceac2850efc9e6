//! The list of settings as an example file and as help.

use std::fmt::Write;

use crate::config::settings::{
    CONFIG_FILE, CONFIG_FILE_VARIABLE, Fallback, Kind, SETTINGS, Setting, Source,
};

const HEADER: &str = "\
# Pennyblack, every setting with its default.
#
# Copy it to pennyblack.toml and take the # away from what you want to change.
# A variable of the environment wins over this file. `pennyblack check` shows
# what holds and where it came from.
#
# Made by `pennyblack check --example`; do not edit it by hand.
";

const LINE_WIDTH: usize = 78;

/// The example file.
pub(crate) fn file() -> String {
    let mut text = HEADER.to_owned();
    let mut section = "";
    for setting in SETTINGS {
        let (its_section, name) = setting.place();
        if its_section != section {
            section = its_section;
            text.push_str(&format!("\n[{section}]\n"));
        }
        text.push('\n');
        text.push_str(&wrapped("# ", setting.meaning));
        if let Fallback::Otherwise { words, .. } = setting.fallback {
            text.push_str(&wrapped("# ", &format!("Default: {words}.")));
        }
        text.push_str(&match setting.source {
            Source::File => assignment(setting, name),
            Source::FileOrEnvironment(variable) => {
                format!("# Environment: {variable}\n{}", assignment(setting, name))
            }
            Source::Environment(variable) => format!("# Only by the environment: {variable}\n"),
        });
    }
    text
}

/// The variables, for `--help`.
pub(crate) fn environment() -> String {
    let mut text = String::from("Environment, each variable over the file:\n");
    describe(
        &mut text,
        CONFIG_FILE_VARIABLE,
        &format!("The configuration file, if --config does not name it. Default: {CONFIG_FILE}."),
    );
    for setting in SETTINGS {
        if let Some(variable) = setting.variable() {
            let default = match setting.fallback {
                Fallback::Value(words) | Fallback::Otherwise { words, .. } => words,
            };
            let meaning = setting.meaning;
            describe(&mut text, variable, &format!("{meaning} Default: {default}."));
        }
    }
    text
}

fn describe(text: &mut String, variable: &str, meaning: &str) {
    writeln!(text, "  {variable}").expect("a String takes every text");
    text.push_str(&wrapped("      ", meaning));
}

fn assignment(setting: &Setting, name: &str) -> String {
    let sample = match setting.fallback {
        Fallback::Value(sample) | Fallback::Otherwise { sample, .. } => sample,
    };
    let value = match setting.kind {
        Kind::Text => format!("\"{sample}\""),
        Kind::Number => sample.to_owned(),
        Kind::List => format!("[\"{}\"]", sample.replace(',', "\", \"")),
    };
    format!("# {name} = {value}\n")
}

fn wrapped(indent: &str, words: &str) -> String {
    let mut lines = vec![indent.to_owned()];
    for word in words.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.len() + word.len() + 1 > LINE_WIDTH {
            lines.push(format!("{indent}{word}"));
        } else if line.len() == indent.len() {
            line.push_str(word);
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}
