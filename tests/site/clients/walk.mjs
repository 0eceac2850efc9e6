// Executes plan.json with a given client, for every client that runs in Node.
import { readFileSync } from "node:fs";
import { judge } from "../lib.mjs";

const plan = JSON.parse(readFileSync(new URL("plan.json", import.meta.url), "utf8"));

export const modern = plan.revisions.modern;

/**
 * Executes the plan with one client and one protocol generation. The client returns results as they are on the wire. If
 * each call takes it long, it `selects` the resources to read.
 */
export async function walk(title, era, client) {
  const complaints = [];
  const expect = (holds, words) => holds || complaints.push(words);
  const answers = new Map();
  const value = (given) => (given?.from ? pointed(answers.get(given.from), given.at) : given);

  const { server, version } = await client.about();
  expect(server?.name && server?.version, `the server is ${JSON.stringify(server)}`);
  expect(version === plan.revisions[era], `the revision is ${version}, not ${plan.revisions[era]}`);

  const names = (await client.tools()).map((tool) => tool.name);
  const wanted = plan.tools.map((tool) => tool.name);
  expect(String(names) === String(wanted), `the tools are ${names}`);
  for (const tool of plan.tools) {
    const given = Object.fromEntries(Object.entries(tool.arguments).map(([name, of]) => [name, value(of)]));
    const result = await client.call(tool.name, given);
    expect(!result.isError && result.structuredContent, `${tool.name} ${JSON.stringify(given)}: ${JSON.stringify(result)}`);
    answers.set(tool.name, result.structuredContent);
  }
  const refused = await client.call(plan.refused.name, plan.refused.arguments);
  expect(refused.isError === true && refused.content?.[0]?.text, `a wrong argument: ${JSON.stringify(refused)}`);

  const resources = await client.resources();
  expect(resources.length > 0, "there is no resource");
  const templates = (await client.templates()).map((template) => template.uriTemplate);
  const known = plan.templates.map((template) => template.uriTemplate);
  expect(String(templates) === String(known), `the templates are ${templates}`);
  const filled = plan.templates.map(({ uriTemplate, value: of }) => uriTemplate.replace(/\{.*\}/, value(of)));
  const selected = client.selects?.(resources) ?? resources;
  await Promise.all([...selected.map((resource) => resource.uri), ...filled].map(async (uri) => {
    const [content] = (await client.read(uri)).contents;
    expect(content?.uri === uri && content.text, `${uri}: ${JSON.stringify(content)}`);
  }));
  for (const { uriTemplate, argument, value: of } of plan.templates) {
    const whole = value(of);
    const begun = whole.slice(0, 2);
    const { values } = (await client.complete(uriTemplate, argument, begun)).completion;
    expect(values.includes(whole) && values.every((one) => one.startsWith(begun)), `${uriTemplate} from ${begun}: ${values}`);
  }
  judge(`${title}, ${era}: ${names.length} tools, ${selected.length} of ${resources.length} resources, ${templates.length} templates`, complaints);
}

/** A JSON pointer without escapes. */
function pointed(document, pointer) {
  return pointer.slice(1).split("/").reduce((part, key) => part?.[key], document);
}
