//! `pennyblack report`: one row for each paid order of a period, as CSV or JSON.

use std::process::ExitCode;

use serde_json::Value;

use crate::cli::accounting::{ReportArguments, ReportFormat};
use crate::commands::audit;
use crate::commands::operator_client::{ClientError, OperatorClient};
use crate::config::load::ConfigReport;
use crate::config::settings;
use crate::config::values::vat_rate::VatRate;
use crate::console;

mod row;

pub(crate) fn run(arguments: &ReportArguments, config: &ConfigReport) -> ExitCode {
    match print(arguments, config) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(count) => {
            console::print_error(&format!(
                "The gas of {count} transactions is missing: the node did not answer, or they are not final yet. Repeat the command later.\n"
            ));
            ExitCode::FAILURE
        }
        Err(error) => {
            console::print_error(error.text());
            ExitCode::from(error.exit_code())
        }
    }
}

/// Prints page by page, and counts rows whose gas is not known.
fn print(arguments: &ReportArguments, config: &ConfigReport) -> Result<u64, ClientError> {
    let vat = match arguments.vat {
        Some(vat) => vat,
        None => {
            let text =
                config.value(&settings::REPORT_VAT_PERCENT).map_err(ClientError::Unusable)?;
            text.parse::<VatRate>().map_err(|why| ClientError::Unusable(format!("{why}\n")))?
        }
    };
    let client = OperatorClient::open(&arguments.connection, config)?;
    let (period, format) = (audit::query(&arguments.period), arguments.format);
    let (mut next, mut unknown, mut printed): (Option<String>, u64, u64) = (None, 0, 0);
    console::print(&begin(format));
    loop {
        let after = next.as_ref().map(|next| format!("&after={next}")).unwrap_or_default();
        let page = client.get(&format!("/v1/report?{period}{after}"))?;
        for facts in page["rows"].as_array().map(Vec::as_slice).unwrap_or_default() {
            console::print(&one(format, facts, vat, printed));
            unknown += u64::from(facts["gas_known"] == false);
            printed += 1;
        }
        next = page["next"].as_str().map(str::to_owned);
        if next.is_none() {
            break;
        }
    }
    console::print(end(format, printed));
    Ok(unknown)
}

fn begin(format: ReportFormat) -> String {
    match format {
        ReportFormat::Csv => row::csv_heading(),
        ReportFormat::Json => "[".to_owned(),
    }
}

fn one(format: ReportFormat, facts: &Value, vat: VatRate, before: u64) -> String {
    let cells = row::cells(facts, vat);
    match (format, before) {
        (ReportFormat::Csv, _) => row::csv(&cells),
        (ReportFormat::Json, 0) => format!("\n  {}", row::json(&cells)),
        (ReportFormat::Json, _) => format!(",\n  {}", row::json(&cells)),
    }
}

const fn end(format: ReportFormat, printed: u64) -> &'static str {
    match (format, printed) {
        (ReportFormat::Csv, _) => "",
        (ReportFormat::Json, 0) => "]\n",
        (ReportFormat::Json, _) => "\n]\n",
    }
}
