//! `GET /api/x402/resolve/{username}` of the real binary, which opens the sandbox's chain itself.

use serde_json::Value;

use crate::house::House;
use crate::public::Reply;

fn resolve(house: &House, name: &str) -> Reply {
    house.get(&format!("/api/x402/resolve/{name}"))
}

#[test]
fn three_spellings_are_one_seller_and_only_the_first_is_looked_up() {
    let house = House::open("");
    let first = resolve(&house, "demo");
    assert_eq!((first.status, first.header("content-type")), (200, "application/json"));
    assert!(first.header("cache-control").starts_with("public, max-age="));
    assert_eq!(first.header("access-control-allow-origin"), "*");
    let mut seller = first.json();
    assert_eq!(seller["username"], "demo");
    assert_eq!(seller["ens_name"], "demo.pennyblack.eth");
    assert_eq!(seller["cached"], false);
    assert_eq!(seller["networks"].as_array().unwrap().len(), 3);
    assert_eq!(seller["address"], seller["networks"][0]["address"]);
    assert_eq!(seller["evidence"]["ccip_read"], serde_json::json!({ "used": false }));
    seller["cached"] = Value::Bool(true);
    for name in ["@demo", "demo.pennyblack.eth", "DEMO", "%40demo", "demo"] {
        let reply = resolve(&house, name);
        assert_eq!((reply.status, reply.json()), (200, seller.clone()), "{name}");
    }
}

#[test]
fn what_is_no_name_is_400_and_who_is_nobody_is_404() {
    let house = House::open("");
    for name in ["a.b", "demo.other.eth", "%D0%B0lice", "a%20b", "%FF", "@@demo", "a%00"] {
        let reply = resolve(&house, name);
        assert_eq!(reply.status, 400, "{name}");
        assert_eq!(reply.json()["error"]["code"], "invalid_seller", "{name}");
    }
    for name in ["nobody", "@nobody", "nobody.pennyblack.eth"] {
        let reply = resolve(&house, name);
        assert_eq!(reply.status, 404, "{name}");
        assert_eq!(reply.json()["error"]["code"], "seller_not_resolved", "{name}");
    }
}

#[test]
fn head_is_get_without_the_body() {
    let house = House::open("");
    // From here on the answer says that it is a remembered one.
    assert_eq!(resolve(&house, "demo").status, 200);
    for (name, status) in [("demo", 200), ("nobody", 404), ("a.b", 400)] {
        let line = format!("HEAD /api/x402/resolve/{name}");
        let (head, get) = (house.request(&line, &[], ""), resolve(&house, name));
        assert_eq!((head.status, head.body.len()), (status, 0), "{name}");
        assert_eq!(head.header("content-length"), get.header("content-length"), "{name}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{name}");
    }
    assert_eq!(house.request("POST /api/x402/resolve/demo", &[], "").status, 405);
}
