// Creates the pictures of the documents from invented people.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { check, step } from "./steps.mjs";
import { setUp } from "./phones.mjs";
import { bring } from "./transfer.mjs";
import { counted, field, fill, main, saveButton, signedIn } from "./office.mjs";

const most = 1024 * 1024; // bytes of the pictures of the tour
const desk = { viewport: { width: 1000, height: 780 } };
const phone = { viewport: { width: 390, height: 700 }, deviceScaleFactor: 1.5, hasTouch: true, isMobile: true };

export async function pictures(browser, demo, encrypted, dir) {
  let bytes = 0;
  mkdirSync(dir, { recursive: true });

  // take creates a picture of a part of the page for each suffix. "-dark" is a dark one.
  async function take(page, name, { height, from = 0 }, suffixes = ["", "-dark"]) {
    const { width } = page.viewportSize();
    const end = await main(page).evaluate((part) => Math.ceil(part.getBoundingClientRect().bottom + scrollY) + 16);
    for (const suffix of suffixes) {
      const path = join(dir, `office-${name}${suffix}.png`);
      await page.emulateMedia({ colorScheme: suffix ? "dark" : "light" });
      await page.screenshot({ path, fullPage: true, clip: { x: 0, y: from, width, height: Math.min(height, end - from) } });
      bytes += statSync(path).size;
    }
  }

  const open = (path, options) => browser.open(demo, path, { session: demo.session, ...options });

  await step("pictures of the tour", async () => {
    const list = await open("/office/", phone);
    await counted(list, "40 people");
    await take(list, "list", phone.viewport);

    const [person] = (await demo.list()).filter((one) => one.phoneNumber && one.email && one.dateOfBirth);
    const call = await open(`/office/people/${person.id}`, phone);
    await take(call, "call", phone.viewport);

    const question = await open("/office/import", desk);
    const text = `Name;Mobile;Born\n${person.lastName}, ${person.firstName};555-0142;\nNovak, Filip;555-0199;30.8.1999\n`;
    await bring(question, { name: "county.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
    await take(question, "import", desk.viewport);

    const conflict = await open(`/office/people/${person.id}`, desk);
    await field(conflict, "phoneNumber").waitFor();
    await demo.change(person, { phoneNumber: "(570) 555-0142" });
    await fill(conflict, { phoneNumber: "(570) 555-0188", email: "office@example.org" });
    await browser.expect(conflict, [409, 412], () => saveButton(conflict).click());
    await take(conflict, "conflict", desk.viewport);
    await demo.change(person, {});

    await take(await open(`/office/paper?code=${demo.code}`, desk), "code", desk.viewport);

    await take(await open("/office/settings", desk), "settings", desk.viewport);
    check(bytes <= most, `the pictures have ${bytes} bytes`);
  });

  await step("pictures of a phone that is set up", async () => {
    const ignoreHTTPSErrors = true, session = await signedIn(browser, encrypted, { ignoreHTTPSErrors });
    const page = await browser.open(encrypted, "/office/", { ...desk, session, ignoreHTTPSErrors });
    await setUp(page, "iPhone, iPad or Mac", "Ana’s iPhone");
    const box = await page.locator("#made").boundingBox();
    const from = Math.floor(box.y + await page.evaluate(() => scrollY)) - 16;
    await take(page, "phones", { height: Math.ceil(box.height) + 32, from }, [""]);
    const link = await main(page).getByRole("textbox", { name: "Link", exact: true }).inputValue();
    const iPhone = await browser.open(encrypted, null, { viewport: phone.viewport, ignoreHTTPSErrors });
    await iPhone.goto(link);
    await take(iPhone, "phone", { height: 1000 }, [""]);
  });
}
