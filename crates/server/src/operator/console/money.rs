//! Money, latency and outcomes of each day, as charts.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use order::model::ids::Timestamp;
use order::model::money::Usdc;
use order::operator::filter::OrderFilter;
use order::ports::{Store, StoreError};

use super::orders::store_failed;
use super::pages::page;
use super::session::ConsoleSession;
use crate::operator::state::OperatorState;
use chart::{BarChart, Segment};
use figures::{Figures, OUTCOMES};

mod chart;
mod figures;

/// Orders that are read at once.
const READ_ORDERS: usize = 500;
/// The page is computed from at most so many orders, so that it does not occupy the store.
const ORDERS_MAX: usize = 20_000;

pub(super) async fn show(
    State(state): State<Arc<OperatorState>>,
    session: ConsoleSession,
) -> Response {
    let figures = Figures::ending(state.clock.now());
    match compute(state.store.as_ref(), figures).await {
        Ok((figures, left_out)) => {
            page(&session, StatusCode::OK, "money.html", values(&figures, left_out))
        }
        Err(error) => store_failed(&session, error),
    }
}

/// Whether orders of the period were left out because there are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    /// Orders that were begun earlier than the last one that was read.
    Older(Timestamp),
}

async fn compute(
    store: &dyn Store,
    mut figures: Figures,
) -> Result<(Figures, LeftOut), StoreError> {
    let since = Some(figures.begin());
    let recent = OrderFilter { since, ..OrderFilter::default() };
    let left_out = read(store, recent, &mut figures).await?;
    // Earlier orders count only with a refund in these days.
    let refunded =
        OrderFilter { until: since, state: Some("refunded".into()), ..OrderFilter::default() };
    read(store, refunded, &mut figures).await?;
    Ok((figures, left_out))
}

async fn read(
    store: &dyn Store,
    mut filter: OrderFilter,
    figures: &mut Figures,
) -> Result<LeftOut, StoreError> {
    for _ in 0..ORDERS_MAX / READ_ORDERS {
        let page = store.list(&filter, READ_ORDERS).await?;
        page.orders.iter().for_each(|order| figures.add(order));
        figures.unreadable += page.unreadable.len();
        filter.after = page.next;
        if page.next.is_none() {
            return Ok(LeftOut::Nothing);
        }
    }
    Ok(filter.after.map_or(LeftOut::Nothing, |(at, _)| LeftOut::Older(at)))
}

fn values(figures: &Figures, left_out: LeftOut) -> Value {
    let charged = figures.days().map(|day| day.charged).sum();
    let refunded = figures.days().map(|day| day.refunded).sum();
    let days: Vec<Value> =
        figures.days().rev().filter(|day| !day.is_empty()).map(day_values).collect();
    let dates: Vec<String> = figures.days().map(figures::DayFigures::date).collect();
    context! {
        charged => usdc(charged),
        charges => figures.days().map(|day| day.charges).sum::<u64>(),
        refunded => usdc(refunded),
        refunds => figures.days().map(|day| day.refunds).sum::<u64>(),
        latency_p50 => figures.latency(50).map(seconds),
        latency_p99 => figures.latency(99).map(seconds),
        charts => [money_chart(figures), latency_chart(figures), outcome_chart(figures)],
        days => days,
        unreadable => figures.unreadable,
        first_day => dates.first(),
        last_day => dates.last(),
        left_out_before => match left_out {
            LeftOut::Nothing => None,
            LeftOut::Older(at) => Some(at.0),
        },
    }
}

fn day_values(day: &figures::DayFigures) -> Value {
    let latency = |percent| day.latency(percent).map_or_else(|| "–".to_owned(), seconds);
    let money = [
        ("Charged, USDC", usdc(day.charged)),
        ("Payments", day.charges.to_string()),
        ("Refunded, USDC", usdc(day.refunded)),
        ("p50", latency(50)),
        ("p99", latency(99)),
    ];
    let outcomes = OUTCOMES.map(|outcome| (outcome.title(), day.count(outcome).to_string()));
    let cells = money.into_iter().chain(outcomes).map(|(label, text)| {
        let zero = ["0", "0.00", "–"].contains(&text.as_str());
        context! { label => label, text => text, zero => zero }
    });
    context! { date => day.date(), cells => cells.collect::<Vec<_>>() }
}

fn money_chart(figures: &Figures) -> Value {
    let mut chart = BarChart::new("Money", "USDC charged each day, and refunded below the line");
    for day in figures.days() {
        let (charged, refunded) = (usdc(day.charged), usdc(day.refunded));
        let text = format!("{}: {charged} USDC charged, {refunded} USDC refunded", day.date());
        let up = vec![Segment { class: "charged", size: day.charged }];
        chart.push(text, up, vec![Segment { class: "refunded", size: day.refunded }]);
    }
    let legend = [("charged", "charged"), ("refunded", "refunded")];
    chart.value(&legend, |top| format!("{} USDC", usdc(top)))
}

fn latency_chart(figures: &Figures) -> Value {
    let mut chart = BarChart::new("Latency", "Time from begun to mailed, by day");
    for day in figures.days() {
        let (p50, p99) = (day.latency(50).unwrap_or(0), day.latency(99).unwrap_or(0));
        let text = match day.latency(50) {
            Some(_) => format!(
                "{}: half within {}, 99 % within {}",
                day.date(),
                seconds(p50),
                seconds(p99)
            ),
            None => format!("{}: no card was mailed", day.date()),
        };
        let rest = Segment { class: "p99", size: p99 - p50 };
        chart.push(text, vec![Segment { class: "p50", size: p50 }, rest], Vec::new());
    }
    chart.value(&[("p50", "p50"), ("p99", "p99")], seconds)
}

fn outcome_chart(figures: &Figures) -> Value {
    let mut chart = BarChart::new("Outcomes", "Orders begun each day, by what became of them");
    for day in figures.days() {
        let counts = OUTCOMES.map(|outcome| format!("{} {}", day.count(outcome), outcome.label()));
        let segments =
            OUTCOMES.map(|outcome| Segment { class: outcome.class(), size: day.count(outcome) });
        chart.push(format!("{}: {}", day.date(), counts.join(", ")), segments.to_vec(), Vec::new());
    }
    let legend = OUTCOMES.map(|outcome| (outcome.class(), outcome.label()));
    chart.value(&legend, |top| format!("{top} {}", if top == 1 { "order" } else { "orders" }))
}

fn usdc(units: u64) -> String {
    Usdc::from_atomic(units).to_string()
}

/// A duration in its largest fitting units.
fn seconds(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0 => "under 1 s".to_owned(),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{minutes} min {} s", seconds % 60),
        3_600..86_400 => format!("{hours} h {} min", minutes % 60),
        86_400.. => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use order::testing::contract::samples::{NOW, every_state};

    use super::*;
    use crate::operator::console::pages;

    #[test]
    fn durations_have_two_units_at_most() {
        let written = [0, 59, 61, 3_661, 90_061].map(seconds);
        assert_eq!(written, ["under 1 s", "59 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]);
    }

    #[test]
    fn the_page_is_drawn_with_and_without_orders() {
        let session = ConsoleSession { operator: "ada".parse().unwrap(), csrf: "c".into() };
        let page = |figures: &Figures, left_out| {
            pages::html(&session, "money.html", values(figures, left_out)).unwrap()
        };
        let mut figures = Figures::ending(NOW.plus(60));
        let empty = page(&figures, LeftOut::Nothing);
        assert!(!empty.contains("<svg") && empty.contains("No orders in these days."));
        every_state(0).iter().for_each(|order| figures.add(order));
        let full = page(&figures, LeftOut::Older(NOW));
        assert_eq!(full.matches("<svg").count(), 3);
        assert!(full.contains("are left out") && full.contains(">2030-03-17</time>"));
    }

    #[test]
    fn the_totals_are_those_of_the_orders_to_the_unit() {
        let mut figures = Figures::ending(NOW.plus(60));
        let orders = every_state(0);
        orders.iter().for_each(|order| figures.add(order));
        let paid = orders.iter().filter_map(order::lifecycle::Stored::paid);
        let charged: u64 = paid.map(|paid| paid.settlement.amount.atomic()).sum();
        let values = values(&figures, LeftOut::Nothing);
        assert_eq!(values.get_attr("charged").unwrap().as_str(), Some(usdc(charged).as_str()));
        assert_eq!(values.get_attr("refunded").unwrap().as_str(), Some("9.68"));
    }
}
