// The service's own paywall: our settler on a real node, and a wallet in a browser that signs.
//
//   node paywall.mjs BINARY PAYWALL_CHECK
//
// PAYWALL_CHECK is tests/site/paywall.mjs beside its packages. It funds accounts through the controls of the emulated
// chain, so a small proxy here provides the controls that it needs for a real node.
import { spawn } from "node:child_process";
import { createServer, request as ask } from "node:http";
import { startChain, who } from "./chains.mjs";
import { open, premises } from "./service.mjs";

const [binary, check] = process.argv.slice(2);

/** `/8453` is the node, and `/__sandbox/8453/accounts/{address}` funds an account. */
async function startFront(chain) {
  const pass = (body, response) => {
    const { hostname, port } = new URL(chain.url);
    const headers = { "content-type": "application/json", "content-length": body.length };
    ask({ hostname, port, method: "POST", path: "/", headers }, answer => {
      response.writeHead(answer.statusCode, { "content-type": "application/json" });
      answer.pipe(response);
    }).end(body);
  };
  const serve = async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const address = request.url.match(new RegExp(`^/__sandbox/${chain.id}/accounts/(0x[0-9a-fA-F]{40})$`))?.[1];
    if (request.url === `/${chain.id}`) return pass(body, response);
    if (!address) return response.writeHead(404).end("not supported by this proxy");
    const { native, usdc, code, ...others } = JSON.parse(body);
    if (Object.keys(others).length > 0) return response.writeHead(400).end(`not supported: ${Object.keys(others)}`);
    if (native) await chain.hand.setBalance({ address, value: BigInt(native) });
    if (usdc) await chain.fund(address, BigInt(usdc));
    if (code) await chain.hand.setCode({ address, bytecode: code });
    return response.writeHead(200).end("{}");
  };
  const server = createServer((request, response) => serve(request, response).catch(error => response.writeHead(500).end(String(error))));
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => (server.closeAllConnections(), server.close()) };
}

const chain = await startChain(8453);
const front = await startFront(chain);
const place = premises({ kind: "settler", rpc: { base: chain.url }, account: who.facilitator });
let code = 1;
let service;
try {
  service = await open(binary, place);
  const environment = { ...process.env, RPC_URL: `${front.url}/{chain}` };
  const child = spawn(process.execPath, [check, service.url, "service"], { env: environment, stdio: "inherit" });
  code = await new Promise(done => child.once("exit", done));
} finally {
  await service?.stop();
  front.stop();
  chain.stop();
  place.remove();
}
process.exit(code);
