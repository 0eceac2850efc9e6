//! The nine tools: definitions, results and errors.

use std::collections::BTreeSet;

use order::model::ids::Timestamp;

use super::*;
use crate::discovery::fixtures::site_facts;
use crate::documents::site::Site;
use crate::mcp::json::JsonValue;
use crate::mcp::protocol_version::ProtocolVersion;
use crate::mcp::result_body::ResultEndings;

fn tool_set() -> ToolSet {
    let Site { facts, pages, .. } = Site::render(site_facts(), Timestamp(0)).unwrap();
    ToolSet::new(&PublicContent { facts, pages })
}

fn call(tool_set: &ToolSet, params: &Value) -> Result<Value, RpcError> {
    let params = params.to_string();
    let given = JsonValue::read(serde_json::from_str(&params).unwrap()).unwrap();
    let endings = ResultEndings::new(&json!({}));
    let said = tool_set.call(given.object().unwrap())?;
    let body = endings.body(ProtocolVersion::Legacy, "1", &said);
    Ok(serde_json::from_slice::<Value>(&body.bytes()).unwrap()["result"].take())
}

fn ask(tool_set: &ToolSet, name: &str, arguments: Value) -> Value {
    call(tool_set, &json!({ "name": name, "arguments": arguments })).unwrap()
}

/// Valid arguments of every tool.
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
fn nine_tools_have_unique_names_and_are_read_only() {
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
fn every_result_has_the_required_members_of_its_schema() {
    let tool_set = tool_set();
    for tool in TOOLS {
        let result = ask(&tool_set, tool.name(), good(tool.name()));
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
fn errors_name_the_tool_or_argument_that_helps() {
    let tool_set = tool_set();
    for (name, arguments, help) in [
        ("get_product", json!({ "slug": "moon" }), "list_shop_products"),
        ("get_support_answer", json!({ "id": "moon" }), "search_support_faq"),
        ("read_public_page_markdown", json!({ "path": "/../etc/passwd" }), "list_public_pages"),
        ("get_product", json!({}), "slug: is required"),
        ("get_product", json!({ "slug": 7 }), "slug: must be a string"),
        ("list_shop_products", json!({ "page": 2 }), "page: is not an argument"),
        ("search_public_pages", json!({ "query": "x", "limit": 21 }), "limit: must be"),
        ("search_public_pages", json!({ "query": "x", "language": "fr" }), "language: must be"),
        (
            "search_public_pages",
            json!({ "query": "", "language": 1, "limit": "many" }),
            "query: must be a string of 1 to 200 characters. language: must be one of en, de, es, \
             it, or left out. limit: must be a whole number",
        ),
    ] {
        let result = ask(&tool_set, name, arguments);
        assert_eq!(result["isError"], true, "{name}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(help), "{text}");
        assert!(result.get("structuredContent").is_none(), "{name}");
    }
}

#[test]
fn an_unknown_tool_is_a_protocol_error() {
    let params = json!({ "name": "buy_everything", "arguments": {} });
    let fault = call(&tool_set(), &params).unwrap_err();
    assert_eq!(fault.code, INVALID_PARAMS);
}

#[test]
fn a_search_tolerates_typos_and_filters_by_language() {
    let tool_set = tool_set();
    for (query, expected) in
        [("refund", "refund"), ("which networks can I pay on", "network"), ("refudn", "refund")]
    {
        let result = ask(&tool_set, "search_support_faq", json!({ "query": query }));
        let first = &result["structuredContent"]["results"][0];
        let text = format!("{first}").to_lowercase();
        assert!(text.contains(expected), "{query}: {text}");
    }
    let pages = ask(&tool_set, "search_public_pages", good("search_public_pages"));
    let results = pages["structuredContent"]["results"].as_array().unwrap();
    assert!(results.iter().all(|page| page["language"] == "de"));
}

#[test]
fn a_page_is_found_in_its_language_with_a_snippet() {
    let tool_set = tool_set();
    for (query, language) in
        [("Postkarte", "de"), ("tarjeta postal", "es"), ("cartolina", "it"), ("postcrad", "en")]
    {
        let arguments = json!({ "query": query, "language": language });
        let found = ask(&tool_set, "search_public_pages", arguments);
        let results = found["structuredContent"]["results"].as_array().unwrap();
        assert!(!results.is_empty(), "{query}");
        for page in results {
            assert_eq!(page["language"], language, "{query}");
            assert!(!page["snippet"].as_str().unwrap().is_empty(), "{query}");
        }
    }
}
