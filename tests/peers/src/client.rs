//! The official Rust client against our server: it runs plan.json, with the handshake and without.

use std::collections::HashMap;
use std::error::Error;
use std::process::ExitCode;

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ProtocolVersion,
    ReadResourceRequestParams,
};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Map, Value};

type Client = RunningService<RoleClient, ClientConfig>;
type Fallible<T> = Result<T, Box<dyn Error>>;

/// One walk: the plan, what was answered so far, and what was not as it should be.
struct Walk<'a> {
    plan: &'a Value,
    answers: HashMap<&'a str, Value>,
    complaints: Vec<String>,
}

impl<'a> Walk<'a> {
    /// A value as it stands in the plan, or taken from an earlier answer.
    fn value(&self, given: &Value) -> Value {
        match (text(given, "from"), text(given, "at")) {
            (Some(from), Some(at)) => {
                self.answers.get(from).and_then(|answer| answer.pointer(at)).cloned()
            }
            (Some(_), None) | (None, Some(_) | None) => Some(given.clone()),
        }
        .unwrap_or_default()
    }

    fn about(&mut self, client: &Client, era: &str) -> Fallible<()> {
        let peer = serde_json::to_value(client.peer_info().as_deref())?;
        let named = text(&peer["serverInfo"], "name").is_some();
        self.complaints.extend((!named).then(|| format!("the server is {peer}")));
        let (found, wanted) = (&peer["protocolVersion"], &self.plan["revisions"][era]);
        self.complaints
            .extend((found != wanted).then(|| format!("the revision is {found}, not {wanted}")));
        Ok(())
    }

    async fn tools(&mut self, client: &Client) -> Fallible<usize> {
        let names: Vec<_> =
            client.list_all_tools().await?.into_iter().map(|tool| tool.name).collect();
        let plan = self.plan;
        let wanted: Vec<_> = list(plan, "tools").filter_map(|tool| text(tool, "name")).collect();
        self.complaints.extend((names != wanted).then(|| format!("the tools are {names:?}")));
        for tool in list(plan, "tools") {
            let name = text(tool, "name").unwrap_or_default();
            let given: Map<String, Value> = tool["arguments"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, of)| (name.clone(), self.value(of)))
                .collect();
            let result = call(client, name, given).await?;
            let good = result["isError"] != true && result["structuredContent"].is_object();
            self.complaints.extend((!good).then(|| format!("{name}: {result}")));
            self.answers.insert(name, result["structuredContent"].clone());
        }
        let refused = &plan["refused"];
        let given = refused["arguments"].as_object().cloned().unwrap_or_default();
        let result = call(client, text(refused, "name").unwrap_or_default(), given).await?;
        let told = result["isError"] == true && result["content"][0]["text"].is_string();
        self.complaints.extend((!told).then(|| format!("a wrong argument: {result}")));
        Ok(names.len())
    }

    async fn resources(&mut self, client: &Client) -> Fallible<usize> {
        let resources: Vec<String> =
            client.list_all_resources().await?.into_iter().map(|resource| resource.uri).collect();
        self.complaints.extend(resources.is_empty().then(|| "there is no resource".to_owned()));
        for uri in &resources {
            self.read(client, uri).await?;
        }
        Ok(resources.len())
    }

    async fn templates(&mut self, client: &Client) -> Fallible<usize> {
        let found = client.list_all_resource_templates().await?;
        let found: Vec<_> = found.into_iter().map(|template| template.uri_template).collect();
        let plan = self.plan;
        let wanted = list(plan, "templates").filter_map(|template| text(template, "uriTemplate"));
        let wanted: Vec<_> = wanted.collect();
        self.complaints.extend((found != wanted).then(|| format!("the templates are {found:?}")));
        for template in list(plan, "templates") {
            let uri = text(template, "uriTemplate").unwrap_or_default();
            let argument = text(template, "argument").unwrap_or_default();
            let whole = self.value(&template["value"]);
            let whole = whole.as_str().unwrap_or_default();
            let fixed = uri.split('{').next().unwrap_or_default();
            self.read(client, &format!("{fixed}{whole}")).await?;
            let begun: String = whole.chars().take(2).collect();
            let values = client.complete_resource_simple(uri, argument, begun.as_str()).await?;
            let fit = values.iter().all(|value| value.starts_with(&begun));
            let fit = fit && values.iter().any(|value| value == whole);
            self.complaints.extend((!fit).then(|| format!("{uri} from {begun}: {values:?}")));
        }
        Ok(found.len())
    }

    async fn read(&mut self, client: &Client, uri: &str) -> Fallible<()> {
        let read = client.read_resource(ReadResourceRequestParams::new(uri)).await?;
        let read = serde_json::to_value(read)?;
        let content = &read["contents"][0];
        let good = content["uri"] == uri && text(content, "text").is_some_and(|it| !it.is_empty());
        self.complaints.extend((!good).then(|| format!("{uri}: {content}")));
        Ok(())
    }
}

async fn call(client: &Client, name: &str, given: Map<String, Value>) -> Fallible<Value> {
    let params = CallToolRequestParams::new(name.to_owned()).with_arguments(given);
    Ok(serde_json::to_value(client.call_tool(params).await?)?)
}

fn list<'a>(plan: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    plan[name].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

async fn visit(
    plan: &Value,
    base: &str,
    (title, era): (&str, &str),
    lifecycle: ClientLifecycleMode,
) -> Fallible<Vec<String>> {
    let transport = StreamableHttpClientTransport::from_uri(format!("{base}/mcp"));
    let check = Implementation::new("pennyblack-check", "1.0.0");
    let client = ClientConfig::new(ClientCapabilities::default(), check)
        .serve_with_lifecycle(transport, lifecycle)
        .await?;
    let mut walk = Walk { plan, answers: HashMap::new(), complaints: Vec::new() };
    walk.about(&client, era)?;
    let tools = walk.tools(&client).await?;
    let resources = walk.resources(&client).await?;
    let templates = walk.templates(&client).await?;
    client.cancel().await?;
    let verdict = if walk.complaints.is_empty() { "ok  " } else { "FAIL" };
    println!(
        "  {verdict}  Rust {title}, {era}: {tools} tools, {resources} resources, {templates} templates"
    );
    Ok(walk.complaints)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Fallible<ExitCode> {
    let mut given = std::env::args().skip(1);
    let (Some(path), Some(base)) = (given.next(), given.next()) else {
        return Err("usage: client PLAN.json BASE_URL".into());
    };
    let plan: Value = serde_json::from_slice(&std::fs::read(path)?)?;
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let auto = ClientLifecycleMode::Auto {
        preferred_versions: preferred_versions.clone(),
        legacy_version: None,
    };
    let eras = [
        ("as it comes", "legacy", ClientLifecycleMode::Initialize),
        ("asking first", "modern", auto),
        ("pinned", "modern", ClientLifecycleMode::Discover { preferred_versions }),
    ];
    let mut complaints = Vec::new();
    for (title, era, lifecycle) in eras {
        complaints.extend(visit(&plan, &base, (title, era), lifecycle).await?);
    }
    for complaint in &complaints {
        println!("          {complaint}");
    }
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
