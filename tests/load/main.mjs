// Runs one campaign of this folder.
//
//   node main.mjs BINARY PROVIDER repeats|lost|connections|soak SIZE SEED
import { runCampaign } from "./campaign.mjs";

const [binary, providerBinary, part, size, seed] = process.argv.slice(2);
const { campaign } = await import(`./${part}.mjs`);
console.log(`${part} ${size}, seed ${seed}`);
await runCampaign(`tests/load/run ${part} ${size} ${seed}`, () => campaign({ binary, providerBinary }, size, Number(seed)));
