// Runs cells through `cellar serve`, with nothing but Node itself.
//
//   node cellar_client.js            # needs `cellar` on PATH, or its path in CELLAR
const { spawn } = require("node:child_process");
const { createInterface } = require("node:readline");

class Cellar {
  // `tools` are functions that cells may call as tool.<name>; each gets its arguments as an object.
  constructor(tools = {}) {
    this.tools = tools;
    this.requests = 0;
    this.pending = new Map(); // id -> { resolve, reject, onText }
    this.server = spawn(process.env.CELLAR || "cellar", ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.server.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
    this.ended = new Promise((resolve) => this.server.on("exit", resolve));
    this.request("tools", { tools: Object.keys(tools).map((name) => ({ name })) });
  }

  // The result of a cell; what it prints goes to `onText` while it runs.
  async eval(code, { session = "main", onText } = {}) {
    return (await this.request("eval", { session, cells: [{ code }] }, onText)).result;
  }

  // The last frame of a request.
  request(type, fields, onText = () => {}) {
    const id = String(++this.requests);
    this.#send({ id, type, ...fields });
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject, onText }));
  }

  // Ends the sessions, and everything their cells have started.
  close() {
    this.server.stdin.end();
    return this.ended;
  }

  async #take(frame) {
    const request = this.pending.get(frame.id);
    if (frame.type === "call") {
      const answer = (async () => ({ value: (await this.tools[frame.name](frame.args)) ?? null }))();
      this.#send({ type: "reply", call: frame.call, ...(await answer.catch((error) => ({ error: String(error) }))) });
    } else if (frame.type === "stdout" || frame.type === "stderr") {
      request.onText(frame.text);
    } else if (frame.type === "done") {
      this.pending.delete(frame.id);
      frame.status === "refused" ? request.reject(new Error(frame.error.evalue)) : request.resolve(frame);
    }
  }

  #send(frame) {
    this.server.stdin.write(JSON.stringify(frame) + "\n");
  }
}

module.exports = { Cellar };

async function main() {
  const cellar = new Cellar({ weather: ({ city }) => `sunny in ${city}` });
  await cellar.eval("x = 6");
  const onText = (text) => process.stdout.write(text);
  console.log((await cellar.eval("print('working'); x * 7", { onText })).text);
  console.log((await cellar.eval("tool.weather({'city': 'Lisbon'})")).text);
  console.log((await cellar.eval("1 / 0")).cells[0].error.evalue);
  await cellar.close();
}

if (require.main === module) main();
