//! `pennyblack pay`: connects the payer with the command line, the configuration and HTTP.

use std::path::Path;
use std::process::ExitCode;

use adapters::clock::SystemClock;
use adapters::http::{CallError, CallErrorKind, HostPolicy, HttpCall, HttpClient, HttpUrl};
use axum::http::HeaderValue;
use order::ports::Clock;
use payer::io::{HttpRequest, NoResponse, PayerIo, PayerResponse};
use payer::options::{PaymentOptions, ServiceLocation};
use payer::outcome::PaymentOutcome;
use payer::payment;
use tokio::runtime::Builder;

use crate::cli::PayArguments;
use crate::config::load;
use crate::console;
use crate::wiring::chain_url_file;

pub(crate) fn run(arguments: &PayArguments, config: Option<&Path>) -> ExitCode {
    let outcome = match start() {
        Ok((runtime, io)) => {
            let locate = || locate(arguments, config);
            runtime.block_on(payment::pay(&options(arguments), &io, locate))
        }
        Err(error) => PaymentOutcome::Unusable(error),
    };
    match outcome {
        PaymentOutcome::Paid(_) | PaymentOutcome::Owed(_) => console::print(outcome.text()),
        PaymentOutcome::Refused(_)
        | PaymentOutcome::Unusable(_)
        | PaymentOutcome::Later(_)
        | PaymentOutcome::AllowanceNeeded(_) => console::print_error(outcome.text()),
    }
    ExitCode::from(outcome.code())
}

fn start() -> Result<(tokio::runtime::Runtime, ProcessIo), String> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("Cannot start: {error}\n"))?;
    let client = HttpClient::new(HostPolicy::Configured).map_err(|error| format!("{error}\n"))?;
    Ok((runtime, ProcessIo { client, clock: SystemClock::start() }))
}

fn options(arguments: &PayArguments) -> PaymentOptions {
    PaymentOptions {
        body: arguments.body.clone(),
        rail: arguments.rail,
        key_file: arguments.key_file.clone(),
        max: arguments.max,
        network: arguments.network,
        rpc_url: arguments.rpc_url.clone(),
        approve: arguments.approve,
        yes: arguments.yes,
        keep: arguments.keep.clone(),
    }
}

/// The service that the command line names. What it leaves out comes from the
/// configuration, which is not read if nothing is missing.
fn locate(arguments: &PayArguments, file: Option<&Path>) -> Result<ServiceLocation, String> {
    let PayArguments { base_url, key_file, sandbox, .. } = arguments;
    if let (Some(base_url), true) = (base_url, key_file.is_some() || sandbox.is_some()) {
        return Ok(ServiceLocation { base_url: base_url.clone(), sandbox: sandbox.clone() });
    }
    let config = load::read(file).outcome.map_err(|invalid| invalid.message())?;
    let base_url = match base_url {
        Some(base_url) => base_url.clone(),
        None => config.server.base_url(config.server.listen).to_string(),
    };
    let sandbox = match (key_file, sandbox) {
        (Some(_), _) => None,
        (None, Some(url)) => Some(url.clone()),
        (None, None) => chain_url_file::read(&config.server.data),
    };
    Ok(ServiceLocation { base_url, sandbox })
}

/// The HTTP client, the clock and the console of this process.
struct ProcessIo {
    client: HttpClient,
    clock: SystemClock,
}

#[async_trait::async_trait]
impl PayerIo for ProcessIo {
    fn check_url(&self, url: &str) -> Result<(), String> {
        HttpUrl::parse(url).map(drop).map_err(|fault| fault.to_string())
    }

    async fn send(&self, request: HttpRequest) -> Result<PayerResponse, NoResponse> {
        let unsendable = || NoResponse::Refused(CallErrorKind::Unsendable.to_string());
        let address = HttpUrl::parse(&request.url).map_err(|_| unsendable())?;
        let mut call = match &request.body {
            Some(body) => HttpCall::post(request.peer, address, body),
            None => HttpCall::get(request.peer, address),
        };
        if let Some((name, value)) = &request.secret_header {
            let mut value = HeaderValue::from_str(value).map_err(|_| unsendable())?;
            value.set_sensitive(true);
            call = call.with_header(name, value);
        }
        if let Some(timeout) = request.timeout {
            call = call.within(timeout);
        }
        match self.client.send(call).await {
            Ok(answer) => {
                let (status, headers, body) = (answer.status, answer.headers, answer.body);
                Ok(PayerResponse { status, headers, body })
            }
            Err(CallError::Refused(reason)) => Err(NoResponse::Refused(reason.to_string())),
            Err(CallError::Lost(reason)) => Err(NoResponse::Lost(reason.to_string())),
        }
    }

    fn now(&self) -> u64 {
        self.clock.now().0
    }

    async fn wait(&self, seconds: u64) {
        self.clock.wait(seconds).await;
    }

    fn print(&self, text: &str) {
        console::print(text);
    }

    fn print_error(&self, text: &str) {
        console::print_error(text);
    }
}
