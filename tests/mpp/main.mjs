// Runs the parts of this test in one process, because all need the same compiled contracts.
//
//   PYTHON=... node main.mjs BINARY PROVIDER PART...
for (const part of process.argv.slice(4)) await import(`./${part}.mjs`);
