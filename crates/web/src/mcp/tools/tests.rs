//! The nine tools: what they promise, what they give, and what they say to bad arguments.

use std::collections::BTreeSet;

use super::*;
use crate::discovery::samples::premises;
use crate::mcp::answer::Endings;
use crate::mcp::era::Era;
use crate::publish;

fn toolbox() -> Toolbox {
    let premises = premises();
    let pages = publish::everything(&premises, 0).unwrap().pages;
    Toolbox::new(&Library { premises, pages })
}

fn call(toolbox: &Toolbox, params: &Value) -> Result<Value, Fault> {
    let params = params.to_string();
    let given = Given::read(serde_json::from_str(&params).unwrap()).unwrap();
    let endings = Endings::new(&json!({}));
    let said = toolbox.call(given.object().unwrap())?;
    let body = endings.body(Era::Legacy, "1", &said);
    Ok(serde_json::from_slice::<Value>(&body.bytes()).unwrap()["result"].take())
}

fn ask(toolbox: &Toolbox, name: &str, arguments: Value) -> Value {
    call(toolbox, &json!({ "name": name, "arguments": arguments })).unwrap()
}

/// Arguments that every tool takes gladly.
fn good(name: &str) -> Value {
    match name {
        "get_product" => json!({ "slug": "signer-mini" }),
        "search_support_faq" => json!({ "query": "refund" }),
        "get_support_answer" => json!({ "id": "what-is-a-postcard-order" }),
        "read_public_page_markdown" => json!({ "path": "/invest" }),
        "search_public_pages" => json!({ "query": "postcard", "language": "de", "limit": 2 }),
        _ => json!({}),
    }
}

#[test]
fn nine_tools_have_names_of_their_own_and_say_that_they_only_read() {
    let definitions = definitions();
    let definitions = definitions.as_array().unwrap();
    let names: BTreeSet<&str> =
        definitions.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 9);
    for tool in definitions {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["annotations"]["destructiveHint"], false);
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert!(tool["inputSchema"]["properties"].is_object());
        assert!(tool["description"].as_str().unwrap().len() > 20);
    }
}

#[test]
fn every_tool_gives_every_member_that_its_schema_requires() {
    let toolbox = toolbox();
    for tool in TOOLS {
        let result = ask(&toolbox, tool.name(), good(tool.name()));
        assert_eq!(result["isError"], false, "{}: {result}", tool.name());
        let given = &result["structuredContent"];
        for member in tool.output()["required"].as_array().unwrap() {
            assert!(given.get(member.as_str().unwrap()).is_some(), "{}: {member}", tool.name());
        }
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), given, "{}", tool.name());
    }
}

#[test]
fn what_is_not_there_is_told_with_the_tool_that_helps() {
    let toolbox = toolbox();
    for (name, arguments, help) in [
        ("get_product", json!({ "slug": "moon" }), "list_shop_products"),
        ("get_support_answer", json!({ "id": "moon" }), "search_support_faq"),
        ("read_public_page_markdown", json!({ "path": "/../etc/passwd" }), "list_public_pages"),
        ("get_product", json!({}), "slug: is required"),
        ("get_product", json!({ "slug": 7 }), "slug: must be a text"),
        ("list_shop_products", json!({ "page": 2 }), "page: is not an argument"),
        ("search_public_pages", json!({ "query": "x", "limit": 21 }), "limit: must be"),
        ("search_public_pages", json!({ "query": "x", "language": "fr" }), "language: must be"),
        (
            "search_public_pages",
            json!({ "query": "", "language": 1, "limit": "many" }),
            "query: must be a text of 1 to 200 characters. language: must be one of en, de, es, \
             it, or left out. limit: must be a whole number",
        ),
    ] {
        let result = ask(&toolbox, name, arguments);
        assert_eq!(result["isError"], true, "{name}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(help), "{text}");
        assert!(result.get("structuredContent").is_none(), "{name}");
    }
}

#[test]
fn an_unknown_tool_is_a_fault_of_the_protocol() {
    let params = json!({ "name": "buy_everything", "arguments": {} });
    let fault = call(&toolbox(), &params).unwrap_err();
    assert_eq!(fault.code, INVALID_PARAMS);
}

#[test]
fn a_search_finds_what_a_person_would_mean() {
    let toolbox = toolbox();
    for (query, expected) in
        [("refund", "refund"), ("which networks can I pay on", "network"), ("refudn", "refund")]
    {
        let result = ask(&toolbox, "search_support_faq", json!({ "query": query }));
        let first = &result["structuredContent"]["results"][0];
        let text = format!("{first}").to_lowercase();
        assert!(text.contains(expected), "{query}: {text}");
    }
    let pages = ask(&toolbox, "search_public_pages", good("search_public_pages"));
    let results = pages["structuredContent"]["results"].as_array().unwrap();
    assert!(results.iter().all(|page| page["language"] == "de"));
}

#[test]
fn a_page_is_found_in_its_language_with_the_line_that_speaks_of_it() {
    let toolbox = toolbox();
    for (query, language) in
        [("Postkarte", "de"), ("tarjeta postal", "es"), ("cartolina", "it"), ("postcrad", "en")]
    {
        let arguments = json!({ "query": query, "language": language });
        let found = ask(&toolbox, "search_public_pages", arguments);
        let results = found["structuredContent"]["results"].as_array().unwrap();
        assert!(!results.is_empty(), "{query}");
        for page in results {
            assert_eq!(page["language"], language, "{query}");
            assert!(!page["snippet"].as_str().unwrap().is_empty(), "{query}");
        }
    }
}
