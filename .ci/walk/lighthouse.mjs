// Lighthouse, over TLS. The scores for accessibility and best practices must be
// full. That for performance depends on the machine, so it is only printed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import lighthouse, { desktopConfig } from "lighthouse";
import { chromium } from "playwright-core";
import { flags } from "./browser.mjs";
import { check, equal, step } from "./steps.mjs";
import { signIn } from "./office.mjs";

export async function audits(executable, program, dir) {
  const profile = join(dir, "lighthouse");
  const context = await chromium.launchPersistentContext(profile, { executablePath: executable, ignoreHTTPSErrors: true,
    args: [...flags, "--ignore-certificate-errors", "--remote-debugging-port=0"] });
  const port = Number(readFileSync(join(profile, "DevToolsActivePort"), "utf8").split("\n")[0]);

  const audit = (name, path) => step(`Lighthouse: ${name}`, async () => {
    let lhr;
    for (let run = 0; run < 3 && (!lhr || lhr.runtimeError); run++) { // on a busy machine a trace may fail
      ({ lhr } = await lighthouse(program.url + path, { port, logLevel: "silent", disableStorageReset: true,
        onlyCategories: ["accessibility", "best-practices", "performance"] }, desktopConfig));
    }
    check(!lhr.runtimeError, `it did not run: ${lhr.runtimeError?.message}`);
    equal(lhr.finalDisplayedUrl, program.url + path, "the page");
    const { accessibility, "best-practices": practices, performance } = lhr.categories;
    console.log(`              accessibility ${accessibility.score * 100}, best practices ${practices.score * 100}, performance ${performance.score * 100}`);
    const short = [accessibility, practices].flatMap((category) => category.auditRefs)
      .filter(({ id, weight }) => weight > 0 && lhr.audits[id].score !== null && lhr.audits[id].score < 1).map(({ id }) => `${id}: ${lhr.audits[id].title}`);
    check(accessibility.score === 1 && practices.score === 1, short.join("\n"));
  });

  await audit("sign-in", "/office/sign-in");
  await step("over TLS the cookie is Secure", async () => {
    const page = await context.newPage();
    await page.goto(`${program.url}/office/sign-in`);
    await signIn(page, program.key);
    await page.waitForURL(`${program.url}/office/`);
    const cookies = (await context.cookies()).filter((cookie) => cookie.httpOnly);
    equal(cookies.map((cookie) => [cookie.secure, cookie.sameSite]), [[true, "Strict"]], "the cookie");
  });
  await audit("the list", "/office/");
  await context.close();
}
