// Wallets of the browser, as the paywall needs them: finding one, putting it on a network, reading USDC, and
// signing. Everything about a chain goes through the wallet; this script asks no server.
globalThis.pennyblackWallets = (() => {
  "use strict";

  const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
  const PROXY = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002";
  const RECEIPT_MILLISECONDS = 240_000;
  const LOOK_MILLISECONDS = 1_500;

  // What a wallet needs to be told of a network that it has never heard of.
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

  /** Something that ends an attempt, in words for the person. */
  class Stop extends Error {}

  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const same = (one, other) => one.toLowerCase() === other.toLowerCase();
  const chainNumber = (network) => Number(network.split(":")[1]);

  /** USDC as people write it: at least two decimals, no more than needed. */
  function usdc(units) {
    const digits = String(units).padStart(7, "0");
    return `${digits.slice(0, -6)}.${digits.slice(-6).replace(/0+$/, "").padEnd(2, "0")}`;
  }

  // Finding: what EIP-6963 announces, or else the one that is simply there --------------

  /** `found` is called with a provider, a name and perhaps an icon, now or later, once for each. */
  function find(found) {
    const known = new Set();
    const note = (provider, name, icon) => {
      if (typeof provider?.request !== "function" || known.has(provider)) return;
      known.add(provider);
      found({ provider, name, icon: /^data:image\//.test(icon ?? "") ? icon : null });
    };
    const present = () => {
      if (known.size === 0) note(window.ethereum, "Wallet of this browser");
    };
    window.addEventListener("eip6963:announceProvider", ({ detail }) =>
      note(detail?.provider, String(detail?.info?.name ?? "Wallet"), detail?.info?.icon));
    window.addEventListener("ethereum#initialized", present, { once: true });
    window.dispatchEvent(new Event("eip6963:requestProvider"));
    present();
  }

  // Typed data (EIP-712) ------------------------------------------------------------------

  const fields = (text) => text.split(",").map((field) => {
    const [type, name] = field.split(" ");
    return { name, type };
  });
  const PROMISE = {
    PermitWitnessTransferFrom: fields("TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness"),
    TokenPermissions: fields("address token,uint256 amount"),
    Witness: fields("address to,address facilitator,uint256 validAfter"),
  };
  const PERMIT = { Permit: fields("address owner,address spender,uint256 value,uint256 nonce,uint256 deadline") };
  const NAMELESS = fields("string name,uint256 chainId,address verifyingContract");
  const VERSIONED = fields("string name,string version,uint256 chainId,address verifyingContract");

  /** Some devices count the last byte from 0, contracts from 27. */
  function forContracts(signature) {
    if (!/^0x[0-9a-f]{128}0[01]$/i.test(signature)) return signature;
    return signature.slice(0, -2) + (27 + Number(signature.slice(-1))).toString(16);
  }

  function randomNonce() {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    return BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`).toString();
  }

  // One wallet, as seen from one page -------------------------------------------------------

  const word = (value) => BigInt(value).toString(16).padStart(64, "0");

  /**
   * `provider` gives the wallet that the person has chosen, `networks` are those of the page with their names, and
   * `say` tells the person what the wallet is about to ask. An offer is an entry of the challenge's `accepts`.
   */
  function desk({ provider, networks, say }) {
    const described = (network) => networks.find((one) => one.network === network) ?? { name: network };
    const nameOf = (network) => described(network).name;

    function ask(method, params) {
      const wallet = provider();
      if (!wallet) throw new Stop("There is no wallet in this browser.");
      return wallet.request(params ? { method, params } : { method });
    }

    async function read(contract, selector, ...words) {
      const call = { to: contract, data: selector + words.map(word).join("") };
      const result = await ask("eth_call", [call, "latest"]);
      if (/^0x[0-9a-f]{64}/i.test(result ?? "")) return BigInt(result);
      throw new Stop("The wallet cannot see USDC on this network. Is it on the right one?");
    }

    const balance = (offer, account) => read(offer.asset, "0x70a08231", account);
    const allowance = (offer, account) => read(offer.asset, "0xdd62ed3e", account, PERMIT2);
    const permitsUsed = (offer, account) => read(offer.asset, "0x7ecebe00", account);

    const isOn = async (offer) => Number(await ask("eth_chainId")) === chainNumber(offer.network);

    /** The account that the person shows, with the wallet on the offer's network. */
    async function connect(offer, expected) {
      say("Your wallet asks whether this page may see your address.");
      const [account] = await ask("eth_requestAccounts");
      if (!/^0x[0-9a-f]{40}$/i.test(account ?? "")) throw new Stop("The wallet showed no account.");
      if (expected && !same(expected, account)) {
        throw new Stop(`Choose the account ${expected} in your wallet: it signed this payment.`);
      }
      if (!(await isOn(offer))) await change(offer);
      return account;
    }

    async function change(offer) {
      const name = nameOf(offer.network);
      const chainId = `0x${chainNumber(offer.network).toString(16)}`;
      const asked = () => ask("wallet_switchEthereumChain", [{ chainId }]);
      say(`Your wallet asks whether it may change to ${name}.`);
      try {
        await asked();
      } catch (error) {
        if (error?.code === 4001) throw error;
        const unknown = error?.code === 4902 || error?.data?.originalError?.code === 4902;
        if (!unknown || !chains[offer.network]) throw new Stop(`Change to ${name} in your wallet, then try again.`);
        await introduce(offer, chainId);
        if (!(await isOn(offer))) await asked();
      }
      if (!(await isOn(offer))) throw new Stop(`The wallet is not on ${name}. Change to it, then try again.`);
    }

    function introduce(offer, chainId) {
      const { name, node } = described(offer.network);
      const { blockExplorerUrls, ...facts } = chains[offer.network];
      say(`Your wallet does not know ${name} yet and asks whether it may add it.`);
      const where = node ? { rpcUrls: [node] } : { blockExplorerUrls };
      return ask("wallet_addEthereumChain", [{ chainId, ...facts, ...where }]);
    }

    /** Lets Permit2 move this much and no more, and waits until the chain has seen it. */
    async function approve(offer, account) {
      const amount = usdc(offer.amount);
      say(`Your wallet asks to let Permit2 move at most ${amount} USDC. That costs a little gas.`);
      const data = `0x095ea7b3${word(PERMIT2)}${word(offer.amount)}`;
      const transaction = await ask("eth_sendTransaction", [{ from: account, to: offer.asset, data, value: "0x0" }]);
      say("Waiting for the network to confirm the permission.");
      const until = performance.now() + RECEIPT_MILLISECONDS;
      while (performance.now() < until) {
        const receipt = await ask("eth_getTransactionReceipt", [transaction]);
        // Whoever speeds a transaction up replaces it by another, so the allowance itself is the proof.
        if ((await allowance(offer, account)) >= BigInt(offer.amount)) return;
        if (receipt && Number(receipt.status) !== 1) throw new Stop("The network did not carry out the permission.");
        if (receipt) throw new Stop(`Permit2 may move less than ${amount} USDC. Leave the amount as it is when the wallet asks.`);
        await pause(LOOK_MILLISECONDS);
      }
      throw new Stop("The network has not confirmed the permission yet. Try again in a while.");
    }

    async function sign(account, offer, typed) {
      if (!(await isOn(offer))) {
        throw new Stop(`The wallet has left ${nameOf(offer.network)}. Change to it, then try again.`);
      }
      const signature = await ask("eth_signTypedData_v4", [account, JSON.stringify(typed)]);
      if (/^0x([0-9a-f]{2}){65,}$/i.test(signature ?? "")) return forContracts(signature);
      throw new Stop("The wallet gave no signature.");
    }

    /** The payment itself: a Permit2 promise that only the named carrier can settle, for the named payee. */
    async function signPromise(offer, account, deadline) {
      const message = {
        permitted: { token: offer.asset, amount: offer.amount },
        spender: PROXY,
        nonce: randomNonce(),
        deadline: String(deadline),
        witness: { to: offer.payTo, facilitator: offer.extra.facilitatorAddress, validAfter: "0" },
      };
      say(`Your wallet asks you to sign the payment: at most ${usdc(offer.amount)} USDC on ${nameOf(offer.network)}.`);
      const signature = await sign(account, offer, {
        types: { EIP712Domain: NAMELESS, ...PROMISE },
        domain: { name: "Permit2", chainId: chainNumber(offer.network), verifyingContract: PERMIT2 },
        primaryType: "PermitWitnessTransferFrom",
        message,
      });
      return { signature, permit2Authorization: { from: account, ...message } };
    }

    /** EIP-2612: the permission as a signature, which the service carries to the chain with the payment. */
    async function signPermit(offer, account, deadline) {
      const nonce = (await permitsUsed(offer, account)).toString();
      const { name, version } = offer.extra;
      const message = { owner: account, spender: PERMIT2, value: offer.amount, nonce, deadline: String(deadline) };
      say(`Your wallet asks you to sign that Permit2 may move at most ${usdc(offer.amount)} USDC. That costs no gas.`);
      const signature = await sign(account, offer, {
        types: { EIP712Domain: VERSIONED, ...PERMIT },
        domain: { name, version, chainId: chainNumber(offer.network), verifyingContract: offer.asset },
        primaryType: "Permit",
        message,
      });
      const { spender, value: amount } = message;
      return { from: account, asset: offer.asset, spender, amount, nonce, deadline: message.deadline, signature, version: "1" };
    }

    return { connect, balance, allowance, approve, signPromise, signPermit, nameOf };
  }

  return { Stop, desk, find, usdc };
})();
