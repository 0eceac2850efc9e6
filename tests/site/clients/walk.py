"""Executes plan.json with both major versions of the official Python client."""

import json
import pathlib
import sys

PLAN = json.loads((pathlib.Path(__file__).parent / "plan.json").read_text())
MODERN = PLAN["revisions"]["modern"]


def plain(answer):
    """An answer as it is on the wire, independent of the client's field names."""
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


def pointed(document, pointer):
    """A JSON pointer without escapes."""
    for key in pointer[1:].split("/"):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


async def walk(title, era, server, version, client, complete):
    """Executes the plan and prints the result; `complete` completes an argument of a template."""
    complaints = []
    answers = {}

    def expect(holds, words):
        if not holds:
            complaints.append(words)

    def value(given):
        return pointed(answers[given["from"]], given["at"]) if isinstance(given, dict) else given

    expect(server and server.name and server.version, f"the server is {server}")
    expect(version == PLAN["revisions"][era], f"the revision is {version}")

    tools = [tool.name for tool in (await client.list_tools()).tools]
    expect(tools == [tool["name"] for tool in PLAN["tools"]], f"the tools are {tools}")
    for tool in PLAN["tools"]:
        given = {name: value(of) for name, of in tool["arguments"].items()}
        result = plain(await client.call_tool(tool["name"], given))
        good = not result.get("isError") and result.get("structuredContent")
        expect(good, f"{tool['name']} {given}: {result}")
        answers[tool["name"]] = result.get("structuredContent")
    refused = plain(await client.call_tool(PLAN["refused"]["name"], PLAN["refused"]["arguments"]))
    expect(refused.get("isError") is True and refused["content"][0]["text"], f"a wrong argument: {refused}")

    resources = plain(await client.list_resources())["resources"]
    expect(resources, "there is no resource")
    templates = plain(await client.list_resource_templates())["resourceTemplates"]
    templates = [template["uriTemplate"] for template in templates]
    expect(templates == [one["uriTemplate"] for one in PLAN["templates"]], f"the templates are {templates}")
    filled = [one["uriTemplate"].split("{")[0] + value(one["value"]) for one in PLAN["templates"]]
    for uri in [resource["uri"] for resource in resources] + filled:
        content = plain(await client.read_resource(uri))["contents"][0]
        expect(content["uri"] == uri and content.get("text"), f"{uri}: {content}")
    for one in PLAN["templates"]:
        whole = value(one["value"])
        begun = whole[:2]
        values = plain(await complete(one["uriTemplate"], {"name": one["argument"], "value": begun}))
        values = values["completion"]["values"]
        fit = whole in values and all(candidate.startswith(begun) for candidate in values)
        expect(fit, f"{one['uriTemplate']} from {begun}: {values}")

    counts = f"{len(tools)} tools, {len(resources)} resources, {len(templates)} templates"
    print(f"  {'FAIL' if complaints else 'ok  '}  {title}, {era}: {counts}")
    for complaint in complaints:
        print(f"          {complaint}")
    return len(complaints)


def address():
    """The URL of the server."""
    if len(sys.argv) != 2:
        sys.exit("usage: python_N.py BASE_URL")
    return sys.argv[1].rstrip("/") + "/mcp"
