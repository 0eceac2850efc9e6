// Wallets of the browser, as the payment page needs them: finding them, changing the network, reading USDC, and
// signing. Everything about a chain goes through the wallet; this script calls no server and contains no text.
globalThis.pennyblackWallets = (() => {
  "use strict";

  const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
  const PROXY = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002";
  /** The end of a signature that says how its account would be deployed (ERC-6492). */
  const ERC6492_SUFFIX = /(6492){16}$/;
  const DELEGATION_PREFIX = /^0xef0100/i;
  const CONFIRMATION_MILLISECONDS = 240_000;
  const POLL_MILLISECONDS = 1_500;
  const NAME_CHARACTERS = 60;
  const ICON_CHARACTERS = 256 * 1024;
  const WALLETS_MAX = 20;

  // What a wallet must be told about a network that it does not know.
  const ether = { name: "Ether", symbol: "ETH", decimals: 18 };
  const chains = {
    "eip155:8453": {
      chainName: "Base",
      nativeCurrency: ether,
      rpcUrls: ["https://mainnet.base.org"],
      blockExplorerUrls: ["https://basescan.org"],
    },
    "eip155:137": {
      chainName: "Polygon",
      nativeCurrency: { name: "POL", symbol: "POL", decimals: 18 },
      rpcUrls: ["https://polygon-rpc.com"],
      blockExplorerUrls: ["https://polygonscan.com"],
    },
    "eip155:42161": {
      chainName: "Arbitrum One",
      nativeCurrency: ether,
      rpcUrls: ["https://arb1.arbitrum.io/rpc"],
      blockExplorerUrls: ["https://arbiscan.io"],
    },
  };

  /** Ends an attempt. `key` names a text of the page, and `values` fill its placeholders. */
  class PaymentStop extends Error {
    constructor(key, values = {}) {
      super(key);
      Object.assign(this, { key, values });
    }
  }

  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const same = (one, other) => one.toLowerCase() === other.toLowerCase();
  const chainNumber = (network) => Number(network.split(":")[1]);
  const isAddress = (value) => typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value);

  /** USDC with at least two decimals, and no more than needed. */
  function usdc(units) {
    const digits = String(units).padStart(7, "0");
    return `${digits.slice(0, -6)}.${digits.slice(-6).replace(/0+$/, "").padEnd(2, "0")}`;
  }

  /** An amount of the native coin, rounded up to two digits. */
  function coins(wei) {
    const unit = 10n ** BigInt(Math.max(String(wei).length - 2, 0));
    const digits = String(((wei + unit - 1n) / unit) * unit).padStart(19, "0");
    return `${digits.slice(0, -18)}.${digits.slice(-18).replace(/0+$/, "")}`.replace(/\.$/, "");
  }

  // Finding: what EIP-6963 announces, or else `window.ethereum` --------------------------

  /** The name is another program's text: without characters that would change the text around it. */
  const plainName = (name) => (typeof name === "string" ? name : "").replace(/[\p{Cc}\p{Cf}]/gu, "").trim().slice(0, NAME_CHARACTERS);
  const safeIcon = (icon) =>
    (typeof icon === "string" && icon.length <= ICON_CHARACTERS && /^data:image\//.test(icon) ? icon : null);

  /** Calls `found` with a provider, its name and perhaps its icon, now or later, once for each. */
  function discover(found) {
    const known = new Set();
    const note = (provider, name, icon) => {
      if (typeof provider?.request !== "function" || known.has(provider) || known.size >= WALLETS_MAX) return;
      known.add(provider);
      found({ provider, name: plainName(name), icon: safeIcon(icon) });
    };
    const injected = () => {
      if (known.size === 0) note(window.ethereum, "", null);
    };
    window.addEventListener("eip6963:announceProvider", ({ detail }) => {
      try {
        note(detail?.provider, detail?.info?.name, detail?.info?.icon);
      } catch {
        // An announcement that cannot be read is not a wallet.
      }
    });
    window.addEventListener("ethereum#initialized", injected, { once: true });
    window.dispatchEvent(new Event("eip6963:requestProvider"));
    injected();
  }

  // Typed data (EIP-712) ------------------------------------------------------------------

  const fields = (text) => text.split(",").map((field) => {
    const [type, name] = field.split(" ");
    return { name, type };
  });
  const PAYMENT = {
    PermitWitnessTransferFrom: fields("TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness"),
    TokenPermissions: fields("address token,uint256 amount"),
    Witness: fields("address to,address facilitator,uint256 validAfter"),
  };
  const PERMIT = { Permit: fields("address owner,address spender,uint256 value,uint256 nonce,uint256 deadline") };
  const PERMIT2_DOMAIN = fields("string name,uint256 chainId,address verifyingContract");
  const TOKEN_DOMAIN = fields("string name,string version,uint256 chainId,address verifyingContract");

  /** Some devices count the last byte from 0, contracts from 27. */
  function forContracts(signature) {
    if (!/^0x[0-9a-f]{128}0[01]$/i.test(signature)) return signature;
    return signature.slice(0, -2) + (27 + Number(signature.slice(-1))).toString(16);
  }

  function randomNonce() {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    return BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`).toString();
  }

  const word = (value) => BigInt(value).toString(16).padStart(64, "0");

  // Calls to the chosen wallet --------------------------------------------------------------

  /** `provider` returns the wallet that the person has chosen; `networks` are those of the page. */
  function callsTo({ provider, networks }) {
    const described = (network) => networks.find((one) => one.network === network) ?? { name: network };
    const nameOf = (network) => described(network).name;

    async function ask(method, params) {
      const wallet = provider();
      if (!wallet) throw new PaymentStop("refusal_no_account");
      return wallet.request(params ? { method, params } : { method });
    }

    async function read(offer, selector, ...words) {
      const call = { to: offer.asset, data: selector + words.map(word).join("") };
      const result = await ask("eth_call", [call, "latest"]);
      if (/^0x[0-9a-f]{64}/i.test(result ?? "")) return BigInt(result);
      throw new PaymentStop("refusal_no_usdc_seen", { network: nameOf(offer.network) });
    }

    const balance = (offer, address) => read(offer, "0x70a08231", address);
    const allowance = (offer, address) => read(offer, "0xdd62ed3e", address, PERMIT2);
    const permitNonce = (offer, address) => read(offer, "0x7ecebe00", address);

    /** What signs for an address: a key, a contract, or a contract that a key has named (EIP-7702). */
    async function account(address) {
      const code = await ask("eth_getCode", [address, "latest"]).catch(() => "0x");
      const hasCode = typeof code === "string" && /^0x[0-9a-f]+$/i.test(code) && !/^0x0*$/i.test(code);
      if (!hasCode) return { address, kind: "key" };
      return { address, kind: DELEGATION_PREFIX.test(code) ? "delegate" : "contract" };
    }

    const isOn = async (offer) => Number(await ask("eth_chainId")) === chainNumber(offer.network);

    /** A wallet can change its network and its account at any time. */
    async function checkUnchanged(offer, address) {
      if (!(await isOn(offer))) throw new PaymentStop("refusal_wrong_network", { network: nameOf(offer.network) });
      const shown = await ask("eth_accounts");
      const isShown = Array.isArray(shown) && shown.some((one) => isAddress(one) && same(one, address));
      if (!isShown) throw new PaymentStop("refusal_account_changed");
    }

    return { described, nameOf, ask, balance, allowance, permitNonce, account, isOn, checkUnchanged };
  }

  // Connecting ------------------------------------------------------------------------------

  /** Returns the function that shows the person's address, with the wallet on the offer's network. */
  function connector({ ask, isOn, described, nameOf }, say) {
    function addNetwork(offer, chainId) {
      const { name, node } = described(offer.network);
      const { blockExplorerUrls, ...facts } = chains[offer.network];
      say("say_add", { network: name });
      const where = node ? { rpcUrls: [node] } : { blockExplorerUrls };
      return ask("wallet_addEthereumChain", [{ chainId, ...facts, ...where }]);
    }

    async function changeNetwork(offer) {
      const network = nameOf(offer.network);
      const chainId = `0x${chainNumber(offer.network).toString(16)}`;
      const change = () => ask("wallet_switchEthereumChain", [{ chainId }]);
      say("say_switch", { network });
      try {
        await change();
      } catch (error) {
        if (error?.code === 4001) throw error;
        const unknown = error?.code === 4902 || error?.data?.originalError?.code === 4902;
        if (!unknown || !chains[offer.network]) throw new PaymentStop("refusal_wrong_network", { network });
        await addNetwork(offer, chainId);
        if (!(await isOn(offer))) await change();
      }
      if (!(await isOn(offer))) throw new PaymentStop("refusal_wrong_network", { network });
    }

    return async (offer, expected) => {
      say("say_connect");
      const [address] = (await ask("eth_requestAccounts")) ?? [];
      if (!isAddress(address)) throw new PaymentStop("refusal_no_account");
      if (expected && !same(expected, address)) throw new PaymentStop("refusal_other_account", { account: expected });
      if (!(await isOn(offer))) await changeNetwork(offer);
      return address;
    };
  }

  // Letting Permit2 move USDC, by a transaction -----------------------------------------------

  const approval = (offer, address) =>
    ({ from: address, to: offer.asset, data: `0x095ea7b3${word(PERMIT2)}${word(offer.amount)}`, value: "0x0" });

  function approver({ ask, allowance, nameOf }, say) {
    /** What the transaction costs, in the native coin. Null if that cannot be estimated. */
    async function gas(offer, { address, kind }) {
      const coin = chains[offer.network]?.nativeCurrency.symbol;
      let cost, held;
      try {
        const asked = [ask("eth_estimateGas", [approval(offer, address)]), ask("eth_gasPrice"), ask("eth_getBalance", [address, "latest"])];
        const [units, price, balance] = (await Promise.all(asked)).map(BigInt);
        [cost, held] = [units * price, balance];
      } catch {
        return null;
      }
      // Another party may pay for an account with code.
      if (kind === "key" && held < cost) throw new PaymentStop("refusal_no_gas", { coin, network: nameOf(offer.network) });
      return cost > 0n && coin ? { amount: coins(cost), coin } : null;
    }

    /** Lets Permit2 move this much and no more, and waits until the chain shows it. */
    async function approve(offer, address) {
      const transaction = await ask("eth_sendTransaction", [approval(offer, address)]);
      say("say_approve_wait");
      const until = performance.now() + CONFIRMATION_MILLISECONDS;
      while (performance.now() < until) {
        // A smart wallet may return an id of its own, which the node does not know.
        const receipt = await ask("eth_getTransactionReceipt", [transaction]).catch(() => null);
        // The payer may have replaced the transaction, so the allowance is the proof.
        if ((await allowance(offer, address)) >= BigInt(offer.amount)) return;
        if (receipt && Number(receipt.status) !== 1) throw new PaymentStop("refusal_allowance_failed");
        if (receipt) throw new PaymentStop("refusal_allowance_small", { most: usdc(offer.amount) });
        await pause(POLL_MILLISECONDS);
      }
      throw new PaymentStop("refusal_allowance_slow");
    }

    return { gas, approve };
  }

  // Signing -----------------------------------------------------------------------------------

  function signer({ ask, checkUnchanged, permitNonce, nameOf }) {
    async function sign(offer, { address, kind }, typed) {
      await checkUnchanged(offer, address);
      const signature = await ask("eth_signTypedData_v4", [address, JSON.stringify(typed)]);
      if (typeof signature !== "string" || !/^0x([0-9a-f]{2}){65,}$/i.test(signature)) throw new PaymentStop("refusal_no_signature");
      await checkUnchanged(offer, address);
      if (kind === "key" && ERC6492_SUFFIX.test(signature)) {
        throw new PaymentStop("smart_undeployed", { network: nameOf(offer.network) });
      }
      return forContracts(signature);
    }

    /** The payment: an authorization for Permit2 that only the named facilitator can settle, for the named payee. */
    async function signPayment(offer, account, deadline) {
      const message = {
        permitted: { token: offer.asset, amount: offer.amount },
        spender: PROXY,
        nonce: randomNonce(),
        deadline: String(deadline),
        witness: { to: offer.payTo, facilitator: offer.extra.facilitatorAddress, validAfter: "0" },
      };
      const signature = await sign(offer, account, {
        types: { EIP712Domain: PERMIT2_DOMAIN, ...PAYMENT },
        domain: { name: "Permit2", chainId: chainNumber(offer.network), verifyingContract: PERMIT2 },
        primaryType: "PermitWitnessTransferFrom",
        message,
      });
      return { signature, permit2Authorization: { from: account.address, ...message } };
    }

    /** EIP-2612: the allowance as a signature, which the service submits with the payment. */
    async function signPermit(offer, account, deadline) {
      const { address } = account;
      const nonce = (await permitNonce(offer, address)).toString();
      const { name, version } = offer.extra;
      const message = { owner: address, spender: PERMIT2, value: offer.amount, nonce, deadline: String(deadline) };
      const signature = await sign(offer, account, {
        types: { EIP712Domain: TOKEN_DOMAIN, ...PERMIT },
        domain: { name, version, chainId: chainNumber(offer.network), verifyingContract: offer.asset },
        primaryType: "Permit",
        message,
      });
      const { spender, value: amount } = message;
      return { from: address, asset: offer.asset, spender, amount, nonce, deadline: message.deadline, signature, version: "1" };
    }

    return { signPayment, signPermit };
  }

  /** `say` shows the person a text before the wallet asks. An offer is an entry of the challenge's `accepts`. */
  function walletClient({ provider, networks, say }) {
    const calls = callsTo({ provider, networks });
    const { nameOf, balance, allowance, account } = calls;
    return { nameOf, balance, allowance, account, connect: connector(calls, say), ...approver(calls, say), ...signer(calls) };
  }

  return { PaymentStop, walletClient, discover, usdc };
})();
