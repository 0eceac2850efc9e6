// A reverse proxy that keeps every byte of every request, and records which requests a browser makes.
import { createServer, request as forward } from "node:http";

export class Recorder {
  /** Every request since the last `clear`: method, URL, headers and body as text. */
  requests = [];

  static async start(target) {
    const recorder = new Recorder();
    const { hostname, port } = new URL(target);
    recorder.server = createServer((request, response) => {
      const pieces = [];
      request.on("data", (piece) => pieces.push(piece));
      request.on("end", () => {
        const body = Buffer.concat(pieces);
        recorder.requests.push({ method: request.method, text: [request.url, JSON.stringify(request.rawHeaders), body].join("\n") });
        const options = { hostname, port, method: request.method, path: request.url, headers: request.headers };
        const passed = forward(options, (answer) => {
          response.writeHead(answer.statusCode, answer.rawHeaders);
          answer.pipe(response);
        });
        passed.on("error", () => response.destroy());
        passed.end(body);
      });
    });
    await new Promise((done) => recorder.server.listen(0, "127.0.0.1", done));
    recorder.origin = `http://127.0.0.1:${recorder.server.address().port}`;
    return recorder;
  }

  clear() {
    this.requests.length = 0;
  }

  /** The words that occur in a request, in any of the ways in which a browser could write them. */
  found(words) {
    const shapes = words.flatMap((word) => {
      const bytes = Buffer.from(word);
      return [word, encodeURIComponent(word), word.replaceAll(" ", "+"), bytes.toString("hex")];
    });
    const sent = this.requests.map(({ text }) => text).join("\n");
    return shapes.filter((shape) => sent.includes(shape));
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
