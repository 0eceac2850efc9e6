//! The console's pages and forms at the loopback listener.

use super::fixture::{MARKED, OperatorFixture};
use crate::fixture::http_client::{Reply, send_request};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// A browser that is logged in.
struct Browser {
    fixture: OperatorFixture,
    cookie: String,
}

impl Browser {
    fn log_in(fixture: OperatorFixture) -> Self {
        let form = format!("operator=grace&token={}", fixture.token);
        let reply = send_request(fixture.listener, "POST /login", &[FORM], &form);
        let cookie = reply.header("set-cookie").split(';').next().unwrap().to_owned();
        Self { fixture, cookie }
    }

    fn get(&self, path: &str) -> Reply {
        let headers = [("Cookie", self.cookie.as_str())];
        send_request(self.fixture.listener, &format!("GET {path}"), &headers, "")
    }

    /// Sends the form of an action with what the order's page has put into it.
    fn send(&self, page: &Reply, order: &str, action: &str, typed: &str) -> Reply {
        let [csrf, version, facts_digest] =
            ["csrf", "version", "facts_digest"].map(|name| value(page, name));
        let form = format!("csrf={csrf}&version={version}&facts_digest={facts_digest}&{typed}");
        let line = format!("POST /console/orders/{order}/{action}");
        send_request(self.fixture.listener, &line, &[FORM, ("Cookie", &self.cookie)], &form)
    }

    /// Performs an action. The payment may become final meanwhile, so it is repeated if the order
    /// has changed.
    fn act(&self, order: &str, action: &str, typed: &str) -> Reply {
        let path = format!("/console/orders/{order}");
        let replies = (0..20).map(|_| self.send(&self.get(&path), order, action, typed));
        let mut answered = replies.filter(|reply| !reply.text().contains("has changed since"));
        answered.next().expect("the order does not change all the time")
    }
}

/// The value of a hidden field.
fn value(page: &Reply, name: &str) -> String {
    let text = page.text();
    let (_, after) = text.split_once(&format!("name=\"{name}\" value=\"")).expect("a hidden field");
    after.split('"').next().unwrap().to_owned()
}

#[track_caller]
fn assert_private(page: &Reply) {
    let text = page.text();
    for word in MARKED {
        assert!(!text.contains(word), "{word}: {text}");
    }
    assert_eq!(page.header("cache-control"), "no-store");
}

#[test]
fn an_action_is_confirmed_first_and_recorded_with_the_name_of_the_operator() {
    let fixture = OperatorFixture::start();
    let order = fixture.lost_order(1);
    let browser = Browser::log_in(fixture);
    for path in ["/", "/?attention=yes", "/money"] {
        let page = browser.get(path);
        assert_eq!(page.status, 200, "{path}: {}", page.text());
        assert_private(&page);
    }
    assert!(browser.get("/").text().contains(&format!("/console/orders/{order}")));
    let first = browser.get(&format!("/console/orders/{order}"));
    assert_private(&first);
    let asked = browser.act(&order, "acknowledge", "note=seen");
    assert_eq!(asked.status, 200, "{}", asked.text());
    assert!(asked.text().contains("name=\"confirmed\""));
    assert_private(&asked);
    let events = |browser: &Browser| browser.fixture.show(&order)["events"].to_string();
    assert!(!events(&browser).contains("grace"), "nothing is done before it is confirmed");
    let done = browser.act(&order, "acknowledge", "note=seen&confirmed=yes");
    assert_eq!(done.status, 200, "{}", done.text());
    assert!(events(&browser).contains("operator:grace") && events(&browser).contains("seen"));
    let shown = browser.get(&format!("/console/orders/{order}/acknowledge"));
    assert_eq!(
        (shown.status, shown.header("location")),
        (303, &*format!("/console/orders/{order}"))
    );
    let missing = browser.get("/unknown");
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("There is nothing here."), "{}", missing.text());
    let late = browser.send(&first, &order, "erase", "confirmed=yes");
    assert_eq!(late.status, 409);
    assert!(late.text().contains("has changed since it was shown"), "{}", late.text());
}

#[test]
fn a_card_is_shown_only_by_a_reveal_that_is_recorded() {
    let fixture = OperatorFixture::start();
    let order = fixture.lost_order(1);
    let browser = Browser::log_in(fixture);
    let card = browser.act(&order, "reveal", "note=spelling&confirmed=yes");
    assert_eq!((card.status, card.header("cache-control")), (200, "no-store"));
    for word in MARKED {
        assert!(card.text().contains(word), "{word}");
    }
    let page = browser.get(&format!("/console/orders/{order}"));
    assert_private(&page);
    assert!(page.text().contains("reveal: spelling"));
    assert_private(&browser.get(&format!("/console/orders/{order}/evidence")));
    let erased = browser.act(&order, "erase", "confirmed=yes");
    assert_eq!(erased.status, 200, "{}", erased.text());
    let gone = browser.act(&order, "reveal", "confirmed=yes");
    assert_eq!(gone.status, 409);
    assert_private(&gone);
}
