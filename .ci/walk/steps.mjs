// The steps of the walk and their checks.
import { isDeepStrictEqual } from "node:util";

const results = { done: 0, failed: [] };

// around is called after each step with its name and its error, or null. It returns further faults.
let around = async () => [];
export const afterEach = (check) => { around = check; };

// step runs a named part of the walk. A failed step does not stop the walk.
export async function step(name, work) {
  const began = Date.now();
  let error = null;
  try {
    await work();
  } catch (thrown) {
    error = thrown;
  }
  const faults = [...(error ? [short(error)] : []), ...(await around(name, error))];
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  results.done++;
  if (faults.length === 0) {
    console.log(`  ok   ${seconds.padStart(5)} s  ${name}`);
    return;
  }
  results.failed.push(name);
  console.log(`  FAIL ${seconds.padStart(5)} s  ${name}`);
  for (const fault of faults) console.log(fault.replace(/^/gm, "         "));
}

// short returns the message of an error without colours and stack, with its place in the walk.
function short(error) {
  const place = /walk\/(\w+\.mjs:\d+)|\/(\w+\.mjs:\d+):\d+\)?$/m.exec(error.stack ?? "");
  const text = String(error.message ?? error).replace(/\x1b\[\d+m/g, "");
  return `${text.slice(0, 3000)}${place ? ` (${place[1] ?? place[2]})` : ""}`;
}

// finish prints the result and sets the exit code.
export function finish(more = 0) {
  const { done, failed } = results;
  console.log(`office: ${done} steps, ${failed.length} failed${failed.map((name) => `\n  ${name}`).join("")}`);
  process.exitCode = failed.length + more > 0 || done === 0 ? 1 : 0;
}

// check fails the step with a message.
export function check(right, message) {
  if (!right) throw new Error(message);
}

export function equal(got, want, what) {
  check(isDeepStrictEqual(got, want), `${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

// until waits until a function returns something true, and returns that.
export async function until(what, test, milliseconds = 60000) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const result = await test();
    if (result) return result;
    check(Date.now() < end, `not within ${milliseconds} ms: ${what}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}
