//! Renders the console's templates into responses.

use std::sync::LazyLock;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior, context};
use order::model::ids::Timestamp;
use tracing::error;

use super::session::ConsoleSession;

/// The templates. Names that end in `.html` are escaped.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    ("base.html", include_str!("templates/base.html")),
    ("list.html", include_str!("templates/list.html")),
    ("orders_table.html", include_str!("templates/orders_table.html")),
    ("order.html", include_str!("templates/order.html")),
    ("evidence.html", include_str!("templates/evidence.html")),
    ("transaction.html", include_str!("templates/transaction.html")),
    ("action_form.html", include_str!("templates/action_form.html")),
    ("confirm.html", include_str!("templates/confirm.html")),
    ("result.html", include_str!("templates/result.html")),
    ("card.html", include_str!("templates/card.html")),
    ("money.html", include_str!("templates/money.html")),
    ("chart.html", include_str!("templates/chart.html")),
    ("login.html", include_str!("templates/login.html")),
];

pub(super) const STYLE_PATH: &str = "/console.css";
pub(super) const ICON_PATH: &str = "/console.svg";
pub(super) const STYLE: &str = include_str!("templates/console.css");
pub(super) const ICON: &str = include_str!("templates/icon.svg");

/// Whether a path needs no login: the login page uses it, and it says nothing about orders.
pub(crate) fn is_public(path: &str) -> bool {
    path == STYLE_PATH || path == ICON_PATH
}

/// Nothing runs, and everything that is loaded comes from the console itself.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'",
);

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    // A misspelled name is an error, which the tests of the pages find.
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_filter("time", time);
    environment.add_filter("minute", minute);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("the tests parse every template");
    }
    environment
});

/// A page for an operator who is logged in.
pub(super) fn page(
    session: &ConsoleSession,
    status: StatusCode,
    template: &str,
    values: Value,
) -> Response {
    respond(status, html(session, template, values))
}

/// The text of such a page.
pub(super) fn html(
    session: &ConsoleSession,
    template: &str,
    values: Value,
) -> Result<String, minijinja::Error> {
    let section = match template {
        "list.html" => "orders",
        "money.html" => "money",
        _ => "",
    };
    render(template, context! { session => session.value(), section => section, ..values })
}

/// The page on which an operator logs in. The message says why a login failed.
pub(crate) fn login_page(status: StatusCode, message: Option<&str>) -> Response {
    let none = Value::from(());
    let values = context! { session => none, section => "", message => message };
    respond(status, render("login.html", values))
}

/// A page for a request that was refused before its session was looked for.
pub(crate) fn refusal(status: StatusCode, text: &str) -> Response {
    let none = Value::from(());
    let title = "The request was refused";
    let values = context! {
        session => none, section => "", title => title, text => text, order => none, failed => true,
    };
    respond(status, render("result.html", values))
}

/// A page with one message.
pub(crate) fn message(
    session: &ConsoleSession,
    status: StatusCode,
    title: &str,
    text: &str,
) -> Response {
    let order = Value::from(());
    let values = context! { title => title, text => text, order => order, failed => true };
    page(session, status, "result.html", values)
}

fn respond(status: StatusCode, rendered: Result<String, minijinja::Error>) -> Response {
    match rendered {
        Ok(body) => (status, headers("text/html; charset=utf-8"), body).into_response(),
        Err(fault) => {
            error!(%fault, "a page of the console was not rendered");
            let text = "The page could not be rendered. The log says why.\n";
            (StatusCode::INTERNAL_SERVER_ERROR, headers("text/plain"), text).into_response()
        }
    }
}

fn render(template: &str, values: Value) -> Result<String, minijinja::Error> {
    ENVIRONMENT.get_template(template)?.render(values)
}

/// The headers of everything that the console serves.
pub(super) fn headers(kind: &'static str) -> [(header::HeaderName, HeaderValue); 6] {
    [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // Not `no-referrer`: browsers then send `Origin: null` with forms, and the listener
        // accepts forms of its own origin only.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    ]
}

/// A time in UTC, to the second.
fn time(seconds: u64) -> Value {
    time_element(seconds, "2026-11-15 09:30:00".len())
}

/// A time in UTC, to the minute.
fn minute(seconds: u64) -> Value {
    time_element(seconds, "2026-11-15 09:30".len())
}

fn time_element(seconds: u64, length: usize) -> Value {
    // Digits and punctuation only, so that nothing is to be escaped.
    let exact = Timestamp(seconds).to_string();
    let shown = exact.get(..length).unwrap_or(&exact).replace('T', " ");
    Value::from_safe_string(format!("<time datetime=\"{exact}\">{shown}</time>"))
}
