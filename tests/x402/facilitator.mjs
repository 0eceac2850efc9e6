// The official facilitator of @x402/core and @x402/evm behind an HTTP server, with hooks for faults.
import { createServer } from "node:http";
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { UptoEvmScheme } from "@x402/evm/upto/facilitator";
import { EIP2612_GAS_SPONSORING } from "@x402/extensions";
import { createWalletClient, http, publicActions } from "viem";
import { who } from "./chains.mjs";

/** How long it waits for a receipt before it reports a settlement as pending. */
const PATIENCE_MILLISECONDS = 1_500;

function signer(chain) {
  const account = who.facilitator;
  const client = createWalletClient({ account, chain: chain.chain, transport: http(chain.url), pollingInterval: 50, cacheTime: 0 }).extend(publicActions);
  const tools = {
    address: account.address,
    readContract: request => client.readContract({ ...request, args: request.args ?? [], account }),
    verifyTypedData: request => client.verifyTypedData(request),
    writeContract: request => client.writeContract({ ...request, args: request.args ?? [] }),
    sendTransaction: request => client.sendTransaction(request),
    waitForTransactionReceipt: request => client.waitForTransactionReceipt(request),
    getCode: request => client.getCode(request),
  };
  return toFacilitatorEvmSigner(tools, { confirmationTimeoutMs: PATIENCE_MILLISECONDS });
}

/** `before(endpoint)` runs first; `after(endpoint, answer)` may change the answer, or close the connection by returning nothing. */
export async function startFacilitator(chains) {
  const facilitator = new x402Facilitator().registerExtension(EIP2612_GAS_SPONSORING);
  for (const chain of chains) facilitator.register(chain.network, new UptoEvmScheme(signer(chain)));
  // The account's nonces are sequential, so settlements on one chain run one after another.
  const lines = new Map();
  const inLine = (network, work) => {
    const turn = (lines.get(network) ?? Promise.resolve()).then(work, work);
    lines.set(network, turn.catch(() => {}));
    return turn;
  };
  const endpoints = {
    verify: (payload, wanted) => facilitator.verify(payload, wanted),
    settle: (payload, wanted) => inLine(wanted.network, () => facilitator.settle(payload, wanted)),
  };
  const hooks = { before: async () => {}, after: (endpoint, answer) => answer };
  const journal = [];
  const serve = async (request, response) => {
    const endpoint = request.url.slice(1);
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    let answer;
    try {
      await hooks.before(endpoint);
      if (endpoint === "supported") answer = { status: 200, body: facilitator.getSupported() };
      else {
        const { paymentPayload, paymentRequirements } = JSON.parse(Buffer.concat(pieces).toString());
        answer = { status: 200, body: await endpoints[endpoint](paymentPayload, paymentRequirements) };
      }
    } catch (error) {
      answer = { status: 500, body: { error: error.message } };
    }
    journal.push({ endpoint, ...answer });
    const said = hooks.after(endpoint, answer);
    if (!said) return request.socket.destroy();
    response.writeHead(said.status, { "content-type": "application/json" }).end(JSON.stringify(said.body));
  };
  const server = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1");
  await new Promise(done => server.once("listening", done));
  const calm = () => Object.assign(hooks, { before: async () => {}, after: (endpoint, answer) => answer });
  return { url: `http://127.0.0.1:${server.address().port}`, hooks, calm, journal, stop: () => (server.closeAllConnections(), server.close()) };
}
