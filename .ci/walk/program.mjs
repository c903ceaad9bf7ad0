// Starts the program and sends requests to its API.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { check, until } from "./steps.mjs";

const running = new Set();
process.on("exit", () => running.forEach(({ child }) => child.kill()));

// stopAll stops all running programs and waits until they have removed their folders.
export const stopAll = () => Promise.all([...running].map((program) => program.stop()));

// Program is a running service with one department.
export class Program {
  // start runs the program until it has printed its address, its first key and its link.
  static async start(binary, dir, args) {
    const program = new Program();
    program.cwd = mkdtempSync(join(dir, "program-")); // without files of another program
    program.child = spawn(binary, args, { cwd: program.cwd, stdio: ["ignore", "pipe", "pipe"] });
    running.add(program);
    let text = "", log = "";
    program.child.stdout.on("data", (data) => { text += data; });
    program.child.stderr.on("data", (data) => { log += data; });
    program.child.on("exit", () => running.delete(program));
    await until(`${args.join(" ")} prints its address, key and link`, () => {
      check(program.child.exitCode === null, `the program ended: ${text}${log}`);
      program.url = /^Listening on (\S+)$/m.exec(text)?.[1];
      program.key = /^ *(ff_\w+)$/m.exec(text)?.[1];
      program.code = /type (\w{6})$/m.exec(text)?.[1]; // of demo
      program.link = /https?:\/\/\S+\/office\/sign-in#code=\S+/.exec(text)?.[0];
      return program.url && program.key && program.link;
    }).catch((error) => { throw new Error(`${error.message}\n${text}${log}`); });
    return program;
  }

  async stop() {
    if (this.child.exitCode !== null) return;
    const ended = new Promise((end) => this.child.once("exit", end));
    this.child.kill();
    await ended;
  }

  // api sends a request with the first key.
  async api(method, path, body) {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.key}`, ...(body && { "Content-Type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : null };
  }

  // ask sends a request that must return this status.
  async ask(status, method, path, body) {
    const answer = await this.api(method, path, body);
    check(answer.status === status, `${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  add(fields) { return this.ask(201, "POST", "/firefighters", fields); }
  change(person, fields) { return this.ask(200, "PUT", `/firefighters/${person.id}`, { ...person, ...fields }); }

  // list returns everyone, or the results of a search, by last name.
  async list(search = "") {
    const people = [];
    for (let page = 1; ; page++) {
      const query = new URLSearchParams({ search, page, pageSize: 100, sortBy: "lastName", sortDir: "asc" });
      const { body } = await this.api("GET", `/firefighters?${query}`);
      people.push(...body.data.items);
      if (!body.data.hasNextPage) return people;
    }
  }
}
