// The end of a campaign: everything comes to rest without faults, and chain, provider and orders must agree to the unit.
import { compare } from "../settlement/compare.mjs";

/** How long payers repeat at the usual speed of the clock, and then at a higher one, as the reconciler waits for minutes. */
const USUAL_MILLISECONDS = 10_000;
const FAST_MILLISECONDS = 60_000;
const SPEED = 30;

/** The longest that the reconciler may take, of the usual clock. */
const REST_SECONDS = 60;

/** What the promise gives, or nothing once the time is over. */
export async function within(milliseconds, promise) {
  let timer;
  const over = new Promise(resolve => (timer = setTimeout(resolve, milliseconds)));
  return Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

/** What does not agree, as sentences. */
export async function settle(stack, traffic) {
  const [service] = stack.services;
  const finished = traffic.finish();
  // Blocks become final with the next ones.
  const mining = setInterval(() => stack.chain.hand.mine({ blocks: 1 }).catch(() => {}), 300);
  try {
    await within(USUAL_MILLISECONDS, finished);
    await service.kill();
    service.rehearse({ speed: SPEED });
    await service.launch();
    await within(FAST_MILLISECONDS, finished);
    const { disagreements, lost, doubled, owed } = await compare(stack, traffic.orders, REST_SECONDS);
    const wrong = [...disagreements];
    if (lost + doubled + owed > 0) wrong.push(`${lost} orders lost, ${doubled} doubled, ${owed} cards owed`);
    for (const { number, rail, id, outcome, status, statuses, refusal } of traffic.orders) {
      if (outcome !== "paid") wrong.push(`order ${number} (${rail}, ${id}) is ${outcome ?? "unfinished"}, its status ${status}: ${refusal ?? statuses.slice(-5)}`);
    }
    return wrong;
  } finally {
    clearInterval(mining);
  }
}
