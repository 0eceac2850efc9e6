//! `pennyblack check`: reports every setting, where it came from, and all faults.

use std::fmt::Write;
use std::process::ExitCode;

use content::fault::ContentFault;
use serde_json::{Value, json};

use crate::cli::CheckArguments;
use crate::commands::check_live::{self, LiveReportFormat};
use crate::config::example;
use crate::config::fault::{self, ConfigFault};
use crate::config::load::ConfigReport;
use crate::config::reader::SettingRow;
use crate::console;
use crate::wiring::{catalog, open_orders};

/// The exit code for an invalid configuration, the same for `check` and `serve`.
pub(crate) const INVALID_CONFIG: u8 = 2;

pub(crate) fn run(arguments: &CheckArguments, report: &ConfigReport) -> ExitCode {
    if arguments.example {
        console::print(&example::file());
        return ExitCode::SUCCESS;
    }
    // An invalid configuration is reported as without the option.
    if let (true, Ok(config)) = (arguments.live, &report.outcome) {
        let format = if arguments.json { LiveReportFormat::Json } else { LiveReportFormat::Table };
        return check_live::run(config, format);
    }
    let content = match &report.outcome {
        Ok(config) => catalog::load(&config.content).map(drop),
        // The folder is not known.
        Err(_) => Ok(()),
    };
    let content_faults = content.err().unwrap_or_default();
    let warnings = report.outcome.as_ref().map(open_orders::warnings_of).unwrap_or_default();
    if arguments.json {
        console::print(&format!("{:#}\n", in_json(report, &content_faults, &warnings)));
    } else {
        console::print(&in_text(report, &content_faults));
        warnings.iter().for_each(|warning| console::print(&format!("\nWarning: {warning}\n")));
    }
    match report.outcome {
        Ok(_) if content_faults.is_empty() => ExitCode::SUCCESS,
        Ok(_) | Err(_) => ExitCode::from(INVALID_CONFIG),
    }
}

fn faults(report: &ConfigReport) -> &[ConfigFault] {
    match &report.outcome {
        Ok(_) => &[],
        Err(faulty) => &faulty.faults,
    }
}

fn in_text(report: &ConfigReport, content_faults: &[ContentFault]) -> String {
    let mut text = match &report.file {
        Some(file) => format!("Configuration file: {}\n", file.display()),
        None => "Configuration file: none, defaults and environment only\n".to_owned(),
    };
    let width = report.rows.iter().map(|row| row.value.chars().count()).max().unwrap_or(0);
    let mut section = "";
    for SettingRow { key, value, origin } in &report.rows {
        let (its_section, name) = key.split_once('.').unwrap_or(("", key));
        if its_section != section {
            section = its_section;
            text.push_str(&format!("\n[{section}]\n"));
        }
        let mark = if faults(report).iter().any(|fault| fault.key == *key) { '!' } else { ' ' };
        writeln!(text, "{mark} {name:<20}  {value:<width$}  {origin}")
            .expect("writing to a String cannot fail");
    }
    match (faults(report), content_faults) {
        ([], []) => text.push_str("\nThe configuration and the content are valid.\n"),
        ([], faults) => text.push_str(&format!("\n{}", catalog::error_message(faults))),
        (faults, _) => text.push_str(&format!("\n{}", fault::list(faults))),
    }
    text
}

fn in_json(report: &ConfigReport, content_faults: &[ContentFault], warnings: &[String]) -> Value {
    let settings: Vec<Value> = report
        .rows
        .iter()
        .map(|SettingRow { key, value, origin }| {
            json!({ "key": key, "value": value, "origin": origin.to_string() })
        })
        .collect();
    let faults: Vec<Value> = faults(report)
        .iter()
        .map(|ConfigFault { key, origin, problem }| {
            json!({
                "key": key,
                "origin": origin.to_string(),
                "problem": problem.message,
                "remedy": problem.remedy,
            })
        })
        .collect();
    let content: Vec<String> = content_faults.iter().map(ContentFault::to_string).collect();
    json!({
        "file": report.file,
        "settings": settings,
        "faults": faults,
        "content_faults": content,
        "warnings": warnings,
    })
}
