//! `pennyblack report`: one row for each paid order of a period, as CSV or JSON.

use std::process::ExitCode;

use serde_json::Value;

use crate::cli::accounting::{ReportArguments, ReportFormat};
use crate::commands::audit;
use crate::commands::operator_client::{ClientError, OperatorClient};
use crate::commands::orders::text;
use crate::config::load::ConfigReport;
use crate::config::settings;
use crate::config::values::vat_rate::VatRate;
use crate::console;

mod row;

/// What a report lacks.
#[derive(Default)]
struct Missing {
    /// Rows whose gas is not known.
    gas: u64,
    /// Orders that cannot be read.
    orders: Vec<Value>,
}

impl Missing {
    fn is_nothing(&self) -> bool {
        self.gas == 0 && self.orders.is_empty()
    }
}

pub(crate) fn run(arguments: &ReportArguments, config: &ConfigReport) -> ExitCode {
    match print(arguments, config) {
        Ok(missing) if missing.is_nothing() => ExitCode::SUCCESS,
        Ok(missing) => {
            if missing.gas > 0 {
                console::print_error(&format!(
                    "The gas of {} transactions is missing: the node did not answer, or they are not final yet. Repeat the command later.\n",
                    missing.gas
                ));
            }
            console::print_error(&text::unreadable(&missing.orders));
            ExitCode::FAILURE
        }
        Err(error) => {
            console::print_error(error.text());
            ExitCode::from(error.exit_code())
        }
    }
}

/// Prints page by page, and collects what is missing.
fn print(arguments: &ReportArguments, config: &ConfigReport) -> Result<Missing, ClientError> {
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
    let (mut next, mut missing, mut printed): (Option<String>, Missing, u64) =
        (None, Missing::default(), 0);
    console::print(&begin(format));
    loop {
        let after = next.as_ref().map(|next| format!("&after={next}")).unwrap_or_default();
        let mut page = client.get(&format!("/v1/report?{period}{after}"))?;
        for facts in page["rows"].as_array().map(Vec::as_slice).unwrap_or_default() {
            console::print(&one(format, facts, vat, printed));
            missing.gas += u64::from(facts["gas_known"] == false);
            printed += 1;
        }
        let unreadable = page["unreadable"].as_array_mut().map(std::mem::take);
        missing.orders.extend(unreadable.unwrap_or_default());
        next = page["next"].as_str().map(str::to_owned);
        if next.is_none() {
            break;
        }
    }
    console::print(end(format, printed));
    Ok(missing)
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
