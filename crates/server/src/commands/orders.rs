//! `pennyblack orders`: lists and shows orders, and acts on one of them.

use std::process::ExitCode;

use adapters::clock::SystemClock;
use order::ports::Clock;
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

use crate::cli::orders::{
    ActionArguments, ListArguments, OrdersArguments, OrdersCommand, ShowArguments,
};
use crate::commands::operator_client::{ClientError, OperatorClient};
use crate::commands::orders::action::OrderAction;
use crate::commands::orders::order_path::path;
use crate::config::load::ConfigReport;
use crate::console;

mod action;
mod consent;
mod events;
mod order_path;
pub(in crate::commands) mod text;

/// The most orders that the service puts on a page.
const PAGE: usize = 200;

pub(crate) fn run(arguments: &OrdersArguments, config: &ConfigReport) -> ExitCode {
    let done = OperatorClient::open(&arguments.connection, config)
        .and_then(|client| execute(&arguments.command, &client));
    match done {
        Ok(code) => code,
        Err(error) => {
            console::print_error(error.text());
            ExitCode::from(error.exit_code())
        }
    }
}

fn execute(command: &OrdersCommand, client: &OperatorClient) -> Result<ExitCode, ClientError> {
    match command {
        OrdersCommand::List(arguments) => list(arguments, client),
        OrdersCommand::Show(arguments) => show(arguments, client),
        OrdersCommand::Evidence(order) => {
            let document = client.get(&format!("{}/evidence", path(&order.order)?))?;
            console::print(&format!("{document:#}\n"));
            Ok(ExitCode::SUCCESS)
        }
        OrdersCommand::Events(arguments) => events::run(arguments, client),
        OrdersCommand::Resubmit(given) => action::run(&OrderAction::Resubmit, given, client),
        OrdersCommand::Erase(given) => action::run(&OrderAction::Erase, given, client),
        OrdersCommand::Attach(given) => {
            let attach = OrderAction::Attach(given.mailpiece.clone());
            action::run(&attach, &given.action, client)
        }
        OrdersCommand::Refund(given) => {
            let refund = OrderAction::Refund(given.transaction.clone());
            action::run(&refund, &given.action, client)
        }
        OrdersCommand::Acknowledge(given) => {
            let (order, consent) = (given.order.clone(), given.consent.clone());
            let note = Some(given.note.clone());
            let given = ActionArguments { order, consent, note };
            action::run(&OrderAction::Acknowledge, &given, client)
        }
    }
}

fn list(arguments: &ListArguments, client: &OperatorClient) -> Result<ExitCode, ClientError> {
    let (mut orders, mut unreadable): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut next: Option<String> = None;
    loop {
        let left = arguments.limit.saturating_sub(orders.len()).min(PAGE);
        if left == 0 {
            break;
        }
        let mut page = client.get(&list_path(arguments, left, next.as_deref()))?;
        let mut taken =
            |name: &str| page[name].as_array_mut().map(std::mem::take).unwrap_or_default();
        orders.extend(taken("orders"));
        unreadable.extend(taken("unreadable"));
        next = page["next"].as_str().map(str::to_owned);
        if next.is_none() {
            break;
        }
    }
    if arguments.json {
        console::print(&format!("{:#}\n", json!({ "orders": orders, "unreadable": unreadable })));
    } else {
        console::print(&text::list(&orders));
        console::print_error(&text::unreadable(&unreadable));
        if next.is_some() {
            console::print_error("There are more orders. Pass a larger --limit to list them.\n");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list_path(arguments: &ListArguments, limit: usize, next: Option<&str>) -> String {
    let mut query = Serializer::new(String::new());
    query.append_pair("limit", &limit.to_string());
    if let Some(state) = &arguments.state {
        query.append_pair("state", state);
    }
    if arguments.attention {
        query.append_pair("attention", "true");
    }
    if let Some(since) = arguments.since {
        let now = SystemClock::start().now();
        query.append_pair("since", &since.before(now).to_string());
    }
    if let Some(payer) = arguments.payer {
        query.append_pair("payer", &payer.to_string());
    }
    if let Some(next) = next {
        query.append_pair("after", next);
    }
    format!("/v1/orders?{}", query.finish())
}

fn show(arguments: &ShowArguments, client: &OperatorClient) -> Result<ExitCode, ClientError> {
    let mut order = client.get(&path(&arguments.order.order)?)?;
    if arguments.reveal {
        let given = ActionArguments {
            order: arguments.order.clone(),
            consent: arguments.consent.clone(),
            note: None,
        };
        let Some(done) = action::ask_and_act(&OrderAction::Reveal, &given, &order, client)? else {
            return Ok(ExitCode::FAILURE);
        };
        // With the event that records it.
        order = client.get(&path(&arguments.order.order)?)?;
        order["revealed_card"] = done["card"].clone();
    }
    if arguments.json {
        console::print(&format!("{order:#}\n"));
    } else {
        console::print(&text::order(&order));
    }
    Ok(ExitCode::SUCCESS)
}
