// Phones and computers that get the list, set up by the page.
import { readFileSync } from "node:fs";
import { check, equal, step, until } from "./steps.mjs";
import { main, row, scan, signedIn, words } from "./office.mjs";

// setUp sets a device up on the page, and waits for what the page shows once.
export async function setUp(page, kind, name, { birthdays = false } = {}) {
  await page.goto("/office/access");
  await page.getByRole("link", { name: "Phones", exact: true }).click();
  await main(page).getByRole("radio", { name: kind }).check();
  await main(page).getByRole("textbox", { name: "Name of the device" }).fill(name);
  if (birthdays) await main(page).getByRole("checkbox", { name: "With dates of birth" }).check();
  await main(page).getByRole("button", { name: "Set up", exact: true }).click();
  await page.getByRole("heading", { name: `How to set up ${name}` }).waitFor();
}

const shown = (page, label) => main(page).getByRole("textbox", { name: label, exact: true }).inputValue();

export async function tasks(browser, station, scripts) {
  const how = scripts ? "" : ", no scripts";
  const open = () => browser.open(station, "/office/", { session: station.session, scripts });

  await step(`a computer gets the list by what the page shows, until it is revoked${how}`, async () => {
    const name = `Computer ${scripts ? "One" : "Two"}`;
    const page = await open();
    await setUp(page, "Computer with Windows or Linux", name, { birthdays: true });
    const [address, user, password, calendar] = [await shown(page, "Address of the server"), await shown(page, "User name"),
      await shown(page, "Password"), await shown(page, "Address of the calendar")];
    equal(user, "phone", "the user name");
    const book = () => fetch(new URL("books/people/", address), { method: "PROPFIND",
      headers: { Depth: "1", Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` } });
    const answer = await book();
    equal(answer.status, 207, "the answer of the book");
    const cards = (await answer.text()).match(/\.vcf</g)?.length;
    equal(cards, (await station.list()).length, "cards");
    equal((await fetch(calendar)).status, 200, "the answer of the calendar");
    await page.goto("/office/phones");
    check(!(await page.content()).includes(password), "the password is shown again");
    await page.goto("/office/access");
    await row(page, name).getByRole("button", { name: words.revoke }).first().click();
    await page.getByRole("status").filter({ hasText: name }).waitFor();
    await until("the book is closed once it is revoked", async () => (await book()).status === 401);
    equal((await fetch(calendar)).status, 401, "the answer of the calendar once it is revoked");
  });

  await step(`an iPhone gets its profile by a link that works once${how}`, async () => {
    const page = await open();
    await setUp(page, "iPhone, iPad or Mac", `iPhone ${scripts ? "One" : "Two"}`);
    const link = await shown(page, "Link");
    equal(await scan(main(page).getByRole("img")), link, "what the camera of the iPhone reads");
    const phone = await browser.open(station, null, { scripts, viewport: { width: 390, height: 800 }, acceptDownloads: true });
    await phone.goto(link);
    const [profile] = await Promise.all([phone.waitForEvent("download"), main(phone).getByRole("link", { name: "Get the profile" }).click()]);
    equal(profile.suggestedFilename(), "firefighters.mobileconfig", "the name of the profile");
    check(readFileSync(await profile.path(), "utf8").includes("com.apple.carddav.account"), "there is no account in the profile");
    await browser.expect(phone, 404, () => phone.goto(link));
    await main(phone).getByText("This link was used").waitFor();
  });
}

// android sets a phone up over HTTPS, without which DAVx5 takes no address.
export async function android(browser, encrypted) {
  await step("the camera of an Android phone reads what DAVx5 needs", async () => {
    const ignoreHTTPSErrors = true, session = await signedIn(browser, encrypted, { ignoreHTTPSErrors });
    const page = await browser.open(encrypted, "/office/", { session, ignoreHTTPSErrors });
    await setUp(page, "Android phone", "Android");
    const code = await scan(main(page).getByRole("img"));
    equal(code, `davx5://phone:${await shown(page, "Password")}@${new URL(encrypted.url).host}/`, "the code");
    equal(await shown(page, "The same as text"), code, "the same as text");
  });
}
