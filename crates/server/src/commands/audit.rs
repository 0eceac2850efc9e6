//! `pennyblack audit`: compares chain and provider with the orders.

use std::process::ExitCode;

use adapters::clock::SystemClock;
use order::ports::Clock;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use crate::cli::accounting::{AuditArguments, PeriodArguments};
use crate::commands::operator_client::{ClientError, OperatorClient};
use crate::config::load::ConfigReport;
use crate::console::{self, Audience};

pub(crate) fn run(arguments: &AuditArguments, config: &ConfigReport) -> ExitCode {
    match compare(arguments, config) {
        Ok(result) => {
            if arguments.json {
                console::print(&format!("{result:#}\n"));
            } else {
                console::print(&text(&result));
            }
            if agrees(&result) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            console::print_error(error.text());
            ExitCode::from(error.exit_code())
        }
    }
}

fn compare(arguments: &AuditArguments, config: &ConfigReport) -> Result<Value, ClientError> {
    let client = OperatorClient::open(&arguments.connection, config)?;
    let (audience, mut last) = (Audience::of_stderr(), Value::Null);
    client.lines(&format!("/v1/audit?{}", query(&arguments.period)), |line| {
        if audience == Audience::Terminal && line["progress"].is_object() {
            let progress = &line["progress"];
            let read = progress["read"].as_str().unwrap_or_default();
            console::print_error(&format!("read {} {read}\n", progress["count"]));
        }
        last = line;
    })?;
    match (&last["result"], last["error"]["message"].as_str()) {
        (Value::Object(_), _) => Ok(last["result"].clone()),
        (_, Some(message)) => Err(ClientError::Rejected(format!("{message}\n"))),
        (_, None) => {
            Err(ClientError::Unreachable("The service stopped during the audit.\n".to_owned()))
        }
    }
}

/// The period as the API reads it.
pub(crate) fn query(period: &PeriodArguments) -> String {
    let now = SystemClock::start().now();
    Serializer::new(String::new())
        .append_pair("from", &period.from.before(now).to_string())
        .append_pair("until", &period.to.before(now).to_string())
        .finish()
}

fn items<'a>(result: &'a Value, name: &str) -> &'a [Value] {
    result[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn agrees(result: &Value) -> bool {
    items(result, "differences").is_empty() && items(result, "not_compared").is_empty()
}

fn text(result: &Value) -> String {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let [from, until, orders, charged, transfers, received, cards, not_final] =
        ["from", "until", "orders", "charged", "transfers", "received", "cards", "not_final"]
            .map(|name| word(&result[name]));
    let mut text = format!(
        "Audit from {from} until {until}\n\n  orders     {orders}, charged {charged} USDC\n  \
         transfers  {transfers}, received {received} USDC\n  cards      {cards}\n"
    );
    if not_final != "0" {
        text.push_str(&format!(
            "  {not_final} payments are not final yet and were not compared.\n"
        ));
    }
    for part in items(result, "not_compared") {
        text.push_str(&format!("  Not compared: {}\n", word(part)));
    }
    let differences = items(result, "differences");
    for difference in differences {
        let [code, message, advice] =
            ["code", "message", "advice"].map(|name| word(&difference[name]));
        text.push_str(&format!("\n{code}\n  {message}\n"));
        if let Some(transaction) = difference["transaction"].as_str() {
            text.push_str(&format!("  transaction {transaction}\n"));
        }
        text.push_str(&format!("  -> {advice}\n"));
    }
    let verdict = match (differences.len(), agrees(result)) {
        (0, true) => "Everything agrees.".to_owned(),
        (0, false) => "No differences in what was compared.".to_owned(),
        (1, _) => "1 difference.".to_owned(),
        (count, _) => format!("{count} differences."),
    };
    format!("{text}\n{verdict}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_difference_is_printed_with_what_to_do() {
        let mut result = json!({
            "from": "2026-11-01T00:00:00Z", "until": "2026-12-01T00:00:00Z", "orders": 2,
            "charged": "2.90", "transfers": 3, "received": "4.35", "cards": 2, "not_final": 1,
            "not_compared": [], "differences": [],
        });
        assert!(agrees(&result));
        assert!(text(&result).ends_with("\nEverything agrees.\n"));
        result["not_compared"] = json!(["eip155:137: no node is configured."]);
        assert!(!agrees(&result));
        result["differences"] = json!([{
            "code": "unknown_transfer", "message": "1.45 USDC too much.", "advice": "Return it.",
            "transaction": "0xaa",
        }]);
        let text = text(&result);
        for part in [
            "unknown_transfer\n  1.45 USDC too much.\n  transaction 0xaa\n  -> Return it.\n",
            "1 payments are not final",
            "Not compared: eip155:137",
            "1 difference.\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
