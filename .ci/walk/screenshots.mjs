// Creates the pictures of the documents from invented people.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { step } from "./steps.mjs";
import { setUp } from "./phones.mjs";
import { bring } from "./transfer.mjs";
import { counted, field, fill, invitation, main, saveButton, signedIn } from "./office.mjs";

// insurers returns the list of an insurer: two people are missing, one is new, and two differ.
function insurers(people) {
  const row = ({ lastName, firstName, dateOfBirth, phoneNumber }) => [lastName, firstName, dateOfBirth?.slice(0, 10) ?? "", phoneNumber ?? ""].join(";");
  const known = people.slice(2).map((person) => ({ ...person }));
  known[3].phoneNumber = "091 876 5432";
  known[9].phoneNumber = "098 765 4321";
  return ["Name;Vorname;Geburtsdatum;Telefon", ...known.map(row), "Novak;Filip;1999-08-30;091 555 0199", ""].join("\n");
}

let width = 1120; // of a picture

export async function pictures(browser, demo, encrypted, dir) {
  await step("pictures of the documents", async () => {
    mkdirSync(dir, { recursive: true });
    const take = async (page, name, mostHeight, y = 0) => {
      const path = join(dir, `${name}.png`);
      const end = await main(page).evaluate((part) => part.getBoundingClientRect().bottom + scrollY + 16);
      await page.screenshot({ path, fullPage: true, clip: { x: 0, y, width, height: Math.min(mostHeight, Math.ceil(end) - y) } });
      console.log(`              ${path}: ${statSync(path).size} bytes`);
    };
    const top = (page) => page.locator(".paper").evaluate((part) => Math.floor(part.getBoundingClientRect().top + scrollY) - 16);
    const options = { session: demo.session, viewport: { width, height: 700 } };
    const access = await browser.open(demo, "/office/access", options);
    const invited = await invitation(access, "Ana Čović", "admin");
    await access.close();
    options.session = await signedIn(browser, demo, { key: invited.split("#code=")[1] });
    const page = await browser.open(demo, "/office/", options);
    await counted(page, "40 people");
    await main(page).getByRole("button", { name: "Hide" }).click(); // hides the first steps
    await page.locator("#steps").waitFor({ state: "detached" });
    await page.goto("/office/"); // removes the notice
    await take(page, "office-list", 462);

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
    await take(print, "office-print", 350, await top(print));

    const compare = await browser.open(demo, "/office/compare", { ...options, viewport: { width, height: 700 } });
    await bring(compare, { name: "insurer 2026.csv", mimeType: "text/csv", buffer: Buffer.from(insurers(await demo.list())) }, "Compare");
    await take(compare, "office-compare", 775, await top(compare));

    const ignoreHTTPSErrors = true, session = await signedIn(browser, encrypted, { ignoreHTTPSErrors });
    const phones = await browser.open(encrypted, "/office/", { ...options, session, ignoreHTTPSErrors });
    await setUp(phones, "iPhone, iPad or Mac", "Ana’s iPhone");
    const box = await phones.locator("#made").boundingBox();
    const link = await main(phones).getByRole("textbox", { name: "Link", exact: true }).inputValue();
    await take(phones, "office-phones", Math.ceil(box.height) + 32, Math.floor(box.y + await phones.evaluate(() => scrollY)) - 16);
    width = 390;
    const phone = await browser.open(encrypted, null, { viewport: { width, height: 760 }, ignoreHTTPSErrors });
    await phone.goto(link);
    await take(phone, "office-phone", 1000);
  });
}
