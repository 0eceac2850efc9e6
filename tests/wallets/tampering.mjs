// Every field of a payment with another value.

/** The paths of all values that are neither objects nor lists. */
function leaves(value, path = []) {
  if (value === null || typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([name, member]) => leaves(member, [...path, name]));
}

const at = (payload, path) => path.reduce((value, name) => value[name], payload);

function put(payload, path, value) {
  const changed = structuredClone(payload);
  at(changed, path.slice(0, -1))[path.at(-1)] = value;
  return changed;
}

/** Other values of the same kind, and one of another kind. */
function others(value) {
  if (typeof value === "boolean") return [!value, "true"];
  if (typeof value === "number") return [value + 1, String(value)];
  const turn = place => `${value.slice(0, place)}${value[place] === "1" ? "2" : "1"}${value.slice(place + 1)}`;
  const start = value.startsWith("0x") ? 2 : 0;
  return [turn(start), turn(Math.floor(value.length / 2)), turn(value.length - 1), { was: value }];
}

/**
 * The payload with each field changed. Another payer is `otherAccount`: the service has to ask the node about an account
 * that it does not know.
 */
export function* changes(payload, { otherAccount }) {
  for (const path of leaves(payload)) {
    const place = path.join("/");
    const isPayer = place === "payload/permit2Authorization/from";
    // Any identifier that the payer chooses is good.
    if (place === "extensions/payment-identifier/info/id") continue;
    for (const value of isPayer ? [otherAccount, { was: otherAccount }] : others(at(payload, path))) yield { place, payload: put(payload, path, value) };
  }
}
