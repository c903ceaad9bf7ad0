// Walks through the office page: walk.mjs BINARY. With --short it runs only the tasks. With --screenshots
// and a folder it only creates the pictures of the documents there. .ci/office installs the requirements
// and runs it.
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { Browser } from "./browser.mjs";
import * as keyboard from "./keyboard.mjs";
import * as list from "./list.mjs";
import { signedIn } from "./office.mjs";
import * as pages from "./pages.mjs";
import * as phones from "./phones.mjs";
import * as print from "./print.mjs";
import { Program, stopAll } from "./program.mjs";
import { pictures } from "./screenshots.mjs";
import { afterEach, finish } from "./steps.mjs";
import * as tasks from "./tasks.mjs";
import * as transfer from "./transfer.mjs";

const [binary, form, picturesDir] = process.argv.slice(2);
const short = form === "--short";
const dir = tmpdir();
const chromium = execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
const browser = await Browser.start(chromium, process.env.FAILURES ?? dir);
afterEach((name, error) => browser.end(name, error));

// serve starts a service with a department of these people.
async function serve(...people) {
  const program = await Program.start(binary, dir, ["serve", "--db", "walk.db", "--listen", "127.0.0.1:0"]);
  for (const person of people) await program.add(person);
  program.session = await signedIn(browser, program);
  return program;
}

// encrypted starts a demo with a self-signed certificate.
const encrypted = () => Program.start(binary, dir, ["demo", "--language", "en", "--listen", "127.0.0.1:0", "--tls-self-signed"]);

async function walk() {
  const demo = await Program.start(binary, dir, ["demo", "--language", "en", "--listen", "127.0.0.1:0"]);
  await list.first(browser, demo);
  if (picturesDir) return pictures(browser, demo, await encrypted(), picturesDir);

  const station = await serve({ firstName: "Ana", lastName: "Čović", phoneNumber: "091 234 5678", email: "ana@example.com", dateOfBirth: "1990-05-15" });
  for (const [number, name] of ["Eva", "Adam", "Zoe", "Ben", "Mia"].entries()) {
    await station.add({ firstName: name, lastName: `Walk${number}`, phoneNumber: `098 ${number}`, email: [null, "walk@example.com", "walk@example.com", "other@example.com", null][number] });
  }
  await list.tasks(browser, station);
  await tasks.tasks(browser, station);
  await tasks.silent(browser, station);
  await keyboard.tasks(browser, station);
  await transfer.tasks(browser, station);
  await pages.menu(browser, station);
  await pages.forced(browser, station);
  await pages.docs(browser, demo);
  const secure = await encrypted();
  await phones.cameras(browser, secure);
  if (short) return;
  await pages.accessibility(browser, station);
  await transfer.accessibility(browser, station);
  await station.stop();

  const sheet = await serve(...Array.from({ length: 80 }, (_, number) => ({ firstName: `Maximiliane${number}`, lastName: `Mustermann${number}x`,
    phoneNumber: `+385 (0)91 555 / ${1000 + number}`, email: `maximiliane.mustermann${number}@example.com`, dateOfBirth: "1980-09-29" })));
  await print.lists(browser, sheet, dir);
  await print.birthdays(browser, sheet, dir);
  await print.oneSheet(browser, sheet, dir);
  await sheet.stop();

  await pictures(browser, demo, secure, `${dir}/pictures`);
}

try {
  await walk();
  finish();
} catch (error) {
  console.log(`office: the walk stopped: ${error.stack}`);
  finish(1);
}
await browser.stop();
await stopAll();
