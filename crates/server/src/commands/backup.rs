//! `pennyblack backup`: copies the SQLite store while the service runs.

use std::process::ExitCode;

use serde_json::json;

use crate::cli::accounting::BackupArguments;
use crate::commands::operator_client::{ClientError, OperatorClient};
use crate::config::load::ConfigReport;
use crate::console;

pub(crate) fn run(arguments: &BackupArguments, config: &ConfigReport) -> ExitCode {
    match make(arguments, config) {
        Ok(text) => {
            console::print(&text);
            ExitCode::SUCCESS
        }
        Err(error) => {
            console::print_error(error.text());
            ExitCode::from(error.exit_code())
        }
    }
}

fn make(arguments: &BackupArguments, config: &ConfigReport) -> Result<String, ClientError> {
    // The service has another working folder.
    let path = std::path::absolute(&arguments.file);
    let path = path.map_err(|error| ClientError::Unusable(format!("{error}\n")))?;
    let client = OperatorClient::open(&arguments.connection, config)?;
    let done = client.post("/v1/backup", &json!({ "path": path }))?;
    Ok(format!(
        "{} orders and {} events, {} bytes, in {}. The copy is verified.\n",
        done["orders"],
        done["events"],
        done["bytes"],
        path.display()
    ))
}
