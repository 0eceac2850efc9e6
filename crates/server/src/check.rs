//! The report on configuration and content: every setting, where it came from, what is wrong.

use std::fmt::Write;
use std::process::ExitCode;

use content::fault::ContentFault;
use serde_json::{Value, json};

use crate::cli::CheckArguments;
use crate::config::fault::Fault;
use crate::config::reader::Row;
use crate::config::{Faulty, Reading, example};
use crate::{console, open_orders, words};

/// The exit code of a faulty configuration, the same for `check` and `serve`.
pub(crate) const FAULTY: u8 = 2;

pub(crate) fn run(arguments: &CheckArguments, reading: &Reading) -> ExitCode {
    if arguments.example {
        console::say(&example::file());
        return ExitCode::SUCCESS;
    }
    let content = match &reading.outcome {
        Ok(config) => words::load(&config.content).map(drop),
        // What the folder is has not been said yet.
        Err(_) => Ok(()),
    };
    let content_faults = content.err().unwrap_or_default();
    let warnings = reading.outcome.as_ref().map(open_orders::warnings_of).unwrap_or_default();
    if arguments.json {
        console::say(&format!("{:#}\n", in_json(reading, &content_faults, &warnings)));
    } else {
        console::say(&in_text(reading, &content_faults));
        warnings.iter().for_each(|warning| console::say(&format!("\nWarning: {warning}\n")));
    }
    match reading.outcome {
        Ok(_) if content_faults.is_empty() => ExitCode::SUCCESS,
        Ok(_) | Err(_) => ExitCode::from(FAULTY),
    }
}

/// What `serve` says when the words do not hold.
pub(crate) fn complaint_about_content(faults: &[ContentFault]) -> String {
    format!("The content does not hold.\n\n{}", list_content(faults))
}

fn list_content(faults: &[ContentFault]) -> String {
    faults.iter().fold(String::new(), |text, fault| format!("{text}  {fault}\n"))
}

/// What `serve` says when it cannot start.
pub(crate) fn complaint(faulty: &Faulty) -> String {
    format!(
        "The configuration does not hold.\n\n{}\n`pennyblack check` shows every setting.\n",
        list(&faulty.faults)
    )
}

fn faults(reading: &Reading) -> &[Fault] {
    match &reading.outcome {
        Ok(_) => &[],
        Err(faulty) => &faulty.faults,
    }
}

fn in_text(reading: &Reading, content_faults: &[ContentFault]) -> String {
    let mut text = match &reading.file {
        Some(file) => format!("Configuration file: {}\n", file.display()),
        None => "Configuration file: none, defaults and environment only\n".to_owned(),
    };
    let width = reading.rows.iter().map(|row| row.shown.chars().count()).max().unwrap_or(0);
    let mut section = "";
    for Row { key, shown, origin } in &reading.rows {
        let (its_section, name) = key.split_once('.').unwrap_or(("", key));
        if its_section != section {
            section = its_section;
            text.push_str(&format!("\n[{section}]\n"));
        }
        let mark = if faults(reading).iter().any(|fault| fault.key == *key) { '!' } else { ' ' };
        writeln!(text, "{mark} {name:<20}  {shown:<width$}  {origin}")
            .expect("a String takes every text");
    }
    match (faults(reading), content_faults) {
        ([], []) => text.push_str("\nEverything is in order, the content too.\n"),
        ([], faults) => text.push_str(&format!("\n{}", complaint_about_content(faults))),
        (faults, _) => text.push_str(&format!("\n{}", list(faults))),
    }
    text
}

fn list(faults: &[Fault]) -> String {
    let heading = match faults.len() {
        1 => "1 fault to mend:".to_owned(),
        count => format!("{count} faults to mend:"),
    };
    faults.iter().fold(format!("{heading}\n"), |text, fault| format!("{text}\n{fault}"))
}

fn in_json(reading: &Reading, content_faults: &[ContentFault], warnings: &[String]) -> Value {
    let settings: Vec<Value> = reading
        .rows
        .iter()
        .map(|Row { key, shown, origin }| {
            json!({ "key": key, "value": shown, "origin": origin.to_string() })
        })
        .collect();
    let faults: Vec<Value> = faults(reading)
        .iter()
        .map(|Fault { key, origin, wrong }| {
            json!({
                "key": key,
                "origin": origin.to_string(),
                "problem": wrong.problem,
                "remedy": wrong.remedy,
            })
        })
        .collect();
    let content: Vec<String> = content_faults.iter().map(ContentFault::to_string).collect();
    json!({
        "file": reading.file,
        "settings": settings,
        "faults": faults,
        "content_faults": content,
        "warnings": warnings,
    })
}
