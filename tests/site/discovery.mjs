// Reads the OpenAPI document as payment registries do, and requests each paid endpoint as they do.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { checkEndpointSchema, getWarningsForL3 } from "@agentcash/discovery";
import { validate } from "mppx/discovery";
import { base, fail, get, judge, note, pass, verdict } from "./lib.mjs";

/** Errors fail the check; warnings are printed. */
function sort(line, findings) {
  const errors = findings.filter(({ severity }) => severity === "error");
  for (const finding of findings) if (!errors.includes(finding)) note(`${line}: ${words(finding)}`);
  judge(line, errors.map(words));
}

function words({ severity, code, message, path }) {
  return [severity, code, path, message].filter(Boolean).join(" ");
}

function agentcash() {
  const program = fileURLToPath(new URL("../bin/discovery.js", import.meta.resolve("@agentcash/discovery")));
  const run = spawnSync(process.execPath, [program, "discover", base, "--json", "-v"], { encoding: "utf8" });
  if (run.status !== 0) return fail(`@agentcash/discovery ended with ${run.status}`, [run.stderr]);
  const found = JSON.parse(run.stdout);
  if (!found.ok) fail("@agentcash/discovery finds no OpenAPI document");
  else if (found.resources.length === 0) fail("@agentcash/discovery finds no operation");
  sort(`@agentcash/discovery, ${found.resources.length} operations`, found.warnings);
}

/** The operations with a price, each with the request from its examples. */
function paid(document) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).filter(([, operation]) => operation?.["x-payment-info"]).map(([method, operation]) => {
      const { address, missing } = fill(document, path, [...(item.parameters ?? []), ...(operation.parameters ?? [])]);
      const media = resolve(document, operation.requestBody)?.content?.["application/json"];
      const body = media && (media.example ?? Object.values(media.examples ?? {})[0]?.value ?? example(document, media.schema));
      return { name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), address, missing: missing || (media && !body), body };
    }));
}

function resolve(document, value) {
  if (!value?.$ref) return value;
  return resolve(document, value.$ref.slice(2).split("/").reduce((part, key) => part?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], document));
}

function example(document, schema) {
  const { example: one, examples, default: usual } = resolve(document, schema) ?? {};
  return one ?? examples?.[0] ?? usual;
}

function fill(document, path, parameters) {
  const address = new URL(base);
  let missing = false;
  for (const parameter of parameters.map((value) => resolve(document, value))) {
    if (!parameter.required || !["path", "query"].includes(parameter.in)) continue;
    const value = parameter.example ?? example(document, parameter.schema);
    if (value === undefined) missing = true;
    else if (parameter.in === "query") address.searchParams.set(parameter.name, value);
    else path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
  }
  address.pathname = path;
  return { address: address.href, missing };
}

async function probe({ name, method, address, missing, body }) {
  if (missing) return fail(`${name} has no example that a registry could send`);
  const answer = await fetch(address, {
    method,
    headers: { accept: "application/json", ...(body && { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  const problem = await answer.json().catch(() => ({}));
  const code = problem.error?.code ?? problem.code ?? problem.error;
  // A paid endpoint that is not configured answers 503, which is correct.
  if (answer.status === 503 && code === "not_configured") return note(`${name} is not configured`);
  if (answer.status !== 402) return fail(`${name} answers ${answer.status} ${code ?? ""} to its own example, not 402`);
  const seen = await checkEndpointSchema({ url: address, probe: true, sampleInputBody: body ?? {} });
  const advice = (seen.advisories ?? []).filter((advisory) => advisory.method === method);
  if (advice.length === 0) return fail(`${name} is not seen by @agentcash/discovery`);
  sort(`${name} asks for money`, advice.flatMap((advisory) => getWarningsForL3(advisory)));
}

const answer = await get("/openapi.json", "application/json");
if (answer.status === 200) {
  const document = await answer.json();
  sort("mppx/discovery", validate(document));
  agentcash();
  const endpoints = paid(document);
  if (endpoints.length === 0) fail("no operation has x-payment-info");
  else pass(`${endpoints.length} operations have x-payment-info`);
  for (const endpoint of endpoints) await probe(endpoint);
} else {
  fail(`/openapi.json answered ${answer.status}`);
}
verdict();
