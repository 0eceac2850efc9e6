// A TCP proxy before a node, which can be closed: then connections are cut and new ones are refused.
import { connect, createServer } from "node:net";

export async function startGate(target) {
  const { hostname, port: targetPort } = new URL(target);
  const open = new Set();
  const server = createServer(incoming => {
    const outgoing = connect({ host: hostname, port: Number(targetPort), noDelay: true });
    incoming.setNoDelay(true);
    const cut = () => {
      incoming.destroy();
      outgoing.destroy();
      open.delete(cut);
    };
    open.add(cut);
    for (const socket of [incoming, outgoing]) socket.once("error", cut).once("close", cut);
    incoming.pipe(outgoing).pipe(incoming);
  });
  const listen = port => new Promise(resolve => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address();
  const close = () => {
    server.close();
    for (const cut of [...open]) cut();
  };
  return { url: `http://127.0.0.1:${port}`, close, open: () => listen(port), stop: close };
}
