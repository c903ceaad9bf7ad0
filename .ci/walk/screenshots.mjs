// The pictures of the documents, from invented people.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { check, step } from "./steps.mjs";
import { counted, field, fill, invitation, main, saveButton, signedIn } from "./office.mjs";

const width = 1120, mostBytes = 300000; // of all pictures together

export async function pictures(browser, demo, dir) {
  await step("pictures of the documents", async () => {
    mkdirSync(dir, { recursive: true });
    let bytes = 0;
    const take = async (page, name, mostHeight) => {
      const path = join(dir, `${name}.png`);
      const end = await main(page).evaluate((part) => part.getBoundingClientRect().bottom + scrollY + 16);
      await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width, height: Math.min(mostHeight, Math.ceil(end)) } });
      bytes += statSync(path).size;
      console.log(`              ${path}: ${statSync(path).size} bytes`);
    };
    const options = { session: demo.session, viewport: { width, height: 700 } };
    const access = await browser.open(demo, "/office/access", options);
    const { code } = await invitation(access, "Ana Čović", "admin");
    await access.close();
    options.session = await signedIn(browser, demo, { key: code });
    const page = await browser.open(demo, "/office/", options);
    await counted(page, "40 people");
    await take(page, "office-list", 520);

    const [person] = (await demo.list()).filter((one) => one.phoneNumber && one.email && one.dateOfBirth)
      .sort((a, b) => a.email.length - b.email.length);
    await page.goto(`/office/people/${person.id}`);
    await field(page, "phoneNumber").waitFor();
    await demo.change(person, { phoneNumber: "091 234 5678" });
    await fill(page, { phoneNumber: "091 876 5432", email: "new@example.com" });
    await browser.expect(page, [409, 412], () => saveButton(page).click());
    await take(page, "office-two-at-once", 600);
    await page.close();
    await demo.change(person, {});

    const print = await browser.open(demo, "/office/print?list=phone", options);
    await take(print, "office-print", 480);
    check(bytes <= mostBytes, `the pictures have ${bytes} bytes, and ${mostBytes} is the limit`);
  });
}
