// A wallet for a page in Chromium: it has a real key, signs, and forwards all other calls to a node.
import { privateKeyToAccount } from "viem/accounts";

const fees = { maxFeePerGas: 5_000_000_000n, maxPriorityFeePerGas: 1_000_000n, gas: 200_000n };

export async function rpc(url, method, params = []) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result, error } = await response.json();
  if (error) throw Object.assign(new Error(error.message), error);
  return result;
}

/** Signs with the account's next nonce, sends, and returns the hash. */
export async function send(url, account, to, data, more = {}) {
  const nonce = Number(await rpc(url, "eth_getTransactionCount", [account.address, "pending"]));
  const chainId = Number(await rpc(url, "eth_chainId"));
  const signed = await account.signTransaction({ type: "eip1559", chainId, nonce, to, data, ...fees, ...more });
  return rpc(url, "eth_sendRawTransaction", [signed]);
}

export class Wallet {
  /** Every method that a page has called, in sequence. */
  asked = [];
  /** Methods that the user declines. */
  declined = new Set();
  /** Networks that the page has added. */
  introduced = [];

  /**
   * `node` returns the URL of a chain's node; `knows` are the chains that the wallet knows. `answers` replace results by
   * method: functions of the parameters and the true result. `signer` is another account that signs. `icon` and `late`
   * belong to its announcement.
   */
  constructor({ key, node, chain = 8453, knows = [chain], name = null, answers = {}, signer = null, icon = null, late = false }) {
    this.account = privateKeyToAccount(key);
    this.knows = new Set(knows);
    Object.assign(this, { node, chain, name, answers, signer, icon, late });
  }

  count(method) {
    return this.asked.filter((asked) => asked === method).length;
  }

  async request({ method, params = [] }) {
    this.asked.push(method);
    if (this.declined.has(method)) throw Object.assign(new Error("User rejected the request."), { code: 4001 });
    const answer = this.answers[method];
    return answer ? answer(params, () => this.result(method, params)) : this.result(method, params);
  }

  async result(method, params) {
    switch (method) {
      case "eth_requestAccounts":
      case "eth_accounts":
        return [this.account.address.toLowerCase()];
      case "eth_chainId":
        return `0x${this.chain.toString(16)}`;
      case "wallet_switchEthereumChain":
        return this.change(Number(params[0].chainId));
      case "wallet_addEthereumChain":
        this.introduced.push(params[0]);
        this.knows.add(Number(params[0].chainId));
        return null;
      case "eth_signTypedData_v4":
        return this.sign(...params);
      case "eth_sendTransaction":
        return this.send(params[0]);
      default:
        return rpc(this.node(this.chain), method, params);
    }
  }

  change(chain) {
    if (!this.knows.has(chain)) throw Object.assign(new Error("Unrecognized chain ID."), { code: 4902 });
    this.chain = chain;
    return null;
  }

  /** As wallets do: only for its own account and its current chain. */
  sign(address, text) {
    this.mine(address);
    const { types: { EIP712Domain: _, ...types }, domain, primaryType, message } = JSON.parse(text);
    if (Number(domain.chainId) !== this.chain) throw Object.assign(new Error("Provided chainId must match the active chainId."), { code: -32603 });
    return (this.signer ?? this.account).signTypedData({ types, domain, primaryType, message });
  }

  send({ from, to, data }) {
    this.mine(from);
    return send(this.node(this.chain), this.account, to, data);
  }

  mine(address) {
    if (address.toLowerCase() !== this.account.address.toLowerCase()) throw Object.assign(new Error("Not an account of this wallet."), { code: 4100 });
  }
}

/** Injects wallets into a tab: one without a name as `window.ethereum`, the others by EIP-6963. A late one waits for `announceLate()`. */
export async function inject(tab, wallets) {
  await tab.exposeFunction("askWallet", async (place, request) => {
    try {
      return { result: await wallets[place].request(request) };
    } catch ({ code = -32603, message }) {
      return { error: { code, message } };
    }
  });
  await tab.evaluateOnNewDocument((described) => {
    const picture = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Ccircle cx='12' cy='12' r='11' fill='%23975'/%3E%3C/svg%3E";
    const provider = (place) => ({
      async request(request) {
        const { result, error } = await window.askWallet(place, request);
        if (error) throw Object.assign(new Error(error.message), { code: error.code });
        return result;
      },
      on() {},
      removeListener() {},
    });
    described.forEach(({ name, icon, late }, place) => {
      const one = provider(place);
      if (!name) {
        window.ethereum = one;
        return;
      }
      const info = { uuid: `00000000-0000-4000-8000-00000000000${place}`, name, icon: icon ?? picture, rdns: `example.wallet${place}` };
      const detail = Object.freeze({ info, provider: one });
      const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
      if (late) {
        window.announceLate = announce;
        return;
      }
      window.addEventListener("eip6963:requestProvider", announce);
      announce();
    });
  }, wallets.map(({ name, icon, late }) => ({ name, icon, late })));
}
