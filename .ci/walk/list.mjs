// The list: search, sort, addresses, e-mail addresses.
import { check, equal, step, until } from "./steps.mjs";
import { counted, field, main, openPerson, people, row, search, searchField, words } from "./office.mjs";

// first is the demo's first visit: one press of a button and everybody is there.
export async function first(browser, demo) {
  await step("the link of demo, one press, 40 people", async () => {
    const page = await browser.open(demo, null);
    await page.goto(demo.link);
    await (await browser.open(demo, null)).goto(demo.link); // a mail scanner that follows the link
    const buttons = main(page).getByRole("button");
    equal(await buttons.count(), 1, "buttons");
    await until("the code is taken out of the address", () => !page.url().includes("code="));
    await buttons.click();
    await page.waitForURL("/office/");
    await counted(page, "40 people");
    equal((await people(page)).length, 40, "rows");
    await page.reload();
    await counted(page, "40 people");
  });
}

// tasks are those with the list, for a department with Ana Čović in it.
export async function tasks(browser, station, scripts) {
  const how = scripts ? "" : ", no scripts";
  const open = (path, options) => browser.open(station, path, { session: station.session, scripts, ...options });
  const all = (await station.list()).length;

  await step(`the list is a table, by last name${how}`, async () => {
    const page = await open("/office/");
    const table = main(page).getByRole("table");
    check(await table.locator("caption").textContent(), "the table has no caption");
    const headers = (await table.getByRole("columnheader").allInnerTexts()).map((text) => text.trim());
    for (const wanted of ["Last name", "First name", "Phone", "E-mail", "Date of birth"]) {
      check(headers.some((text) => text.startsWith(wanted)), `no column "${wanted}" in ${headers}`);
    }
    equal(await sorted(page), ["Last name ascending"], "aria-sort");
    const names = (await people(page)).map((cells) => cells[0]);
    equal(names, (await station.list()).slice(0, 100).map((person) => person.lastName), "last names");
    const ana = row(page, "Čović");
    equal(await ana.getByRole("link", { name: "091 234 5678" }).getAttribute("href"), "tel:0912345678", "the phone");
    equal(await ana.getByRole("link", { name: "ana@example.com" }).getAttribute("href"), "mailto:ana@example.com", "the e-mail");
    check((await ana.innerText()).includes("15 May 1990"), `the date of birth in ${await ana.innerText()}`);
  });

  await step(`search by name, accents, phone and e-mail${how}`, async () => {
    const page = await open("/office/");
    for (const text of ["covic", "ČOVIĆ", "ana covic", "0912345678", "234 56", "ana@exa"]) {
      await search(page, "xyzzy", scripts);
      await counted(page, `0 of ${all} people`);
      await search(page, text, scripts);
      await counted(page, `1 of ${all} people`);
      equal((await people(page)).map((cells) => cells[0]), ["Čović"], `who was found for "${text}"`);
    }
  });

  await step(`a search stays: Back, reload, address${how}`, async () => {
    const page = await open("/office/");
    await search(page, "covic", scripts);
    await counted(page, `1 of ${all} people`);
    await until("the address has the search", () => new URL(page.url()).searchParams.get("search") === "covic");
    await page.reload();
    await counted(page, `1 of ${all} people`);
    equal(await searchField(page).inputValue(), "covic", "the search field");
    await openPerson(page, "Čović");
    await page.goBack();
    await counted(page, `1 of ${all} people`);
    equal(await searchField(page).inputValue(), "covic", "the search field after Back");
    await search(page, "", scripts);
    if (!scripts) await searchField(page).press("Enter");
    await counted(page, `${all} people`);
  });

  await step(`sort by a header${how}`, async () => {
    const page = await open("/office/?search=walk");
    const press = (name) => main(page).getByRole("columnheader", { name }).locator("a, button").first().click();
    await press(/^First name/);
    await until("sorted by first name", async () => (await sorted(page)).join() === "First name ascending");
    const names = (await people(page)).map((cells) => cells[1]);
    check(names.length > 2, `only ${names.length} people`);
    await press(/^First name/);
    await until("sorted downwards", async () => (await sorted(page)).join() === "First name descending");
    equal((await people(page)).map((cells) => cells[1]), names.toReversed(), "first names");
    await page.reload();
    equal(await sorted(page), ["First name descending"], "aria-sort after a reload");
    equal(await searchField(page).inputValue(), "walk", "the search after a sort");
    await page.goBack();
    await until("Back sorts as before", async () => (await sorted(page)).join() === "First name ascending");
  });

  await step(`on a phone it is a phone list${how}`, async () => {
    const page = await open("/office/", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const seen = await main(page).locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().toJSON()));
    check(seen.every(({ height }) => height <= 64), `a row is ${Math.max(...seen.map(({ height }) => height))} px high`);
    const inSight = seen.filter(({ bottom }) => bottom <= 844).length;
    check(inSight >= Math.min(8, all), `${inSight} people are in sight`);
    equal(await main(page).getByRole("link", { name: "Call Ana Čović", exact: true }).getAttribute("href"), "tel:0912345678", "the button that calls");
    equal(await main(page).getByRole("button", { name: words.delete }).count(), 0, "buttons that delete");
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    check((await searchField(page).boundingBox()).y >= 0, "the search does not stay in sight");
    await main(page).getByRole("combobox", { name: "Sort by" }).selectOption("First name");
    await main(page).getByRole("button", { name: "Sort", exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get("sortBy") === "firstName");
    await search(page, "covic", scripts);
    await counted(page, `1 of ${all} people`);
    const { x, y, height } = await main(page).locator("tbody tr").boundingBox();
    await page.touchscreen.tap(x + 250, y + height / 2); // beside the name
    await field(page, "lastName").waitFor();
  });

  await step(`a bad address shows the list${how}`, async () => {
    const page = await open("/office/?sortBy=shoeSize&page=minus");
    await counted(page, `${all} people`);
    await page.getByRole("alert").waitFor();
  });

  await step(`copy e-mail addresses${how}`, async () => {
    const page = await open("/office/?search=walk");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const found = await station.list("walk");
    const addresses = [...new Set(found.map((person) => person.email).filter(Boolean))];
    const none = found.filter((person) => !person.email).length;
    check(addresses.length > 1 && none > 0, "the department has no people for this step");
    await main(page).getByRole("link", { name: "Copy e-mail addresses" }).or(main(page).getByRole("button", { name: "Copy e-mail addresses" })).click();
    for (const [separator, name] of [["; ", "semicolon"], [", ", "comma"]]) {
      await page.goto(`/office/emails?search=walk&separator=${name}`);
      const text = await main(page).locator("textarea, output, .copy, [readonly]").first()
        .evaluate((element) => element.value ?? element.textContent);
      equal(text.trim().split(separator).sort(), addresses.toSorted(), `addresses by ${name}`);
      check(new RegExp(`\\b${none}\\b`).test(await main(page).innerText()), `the page does not say that ${none} have none`);
      if (!scripts) continue;
      await main(page).getByRole("button", { name: /^copy/i }).click();
      equal(await page.evaluate(() => navigator.clipboard.readText()), text.trim(), "the clipboard");
    }
  });
}

// longer is a list of two pages.
export async function longer(browser, crowd) {
  await step("a list of 150 has two pages", async () => {
    const page = await browser.open(crowd, "/office/", { session: crowd.session });
    await counted(page, "150 people");
    equal((await people(page)).length, 100, "rows of the first page");
    await page.getByRole("link", { name: /^next/i }).click();
    await until("the second page", async () => (await people(page)).length === 50);
    equal(new URL(page.url()).searchParams.get("page"), "2", "the page in the address");
    await page.getByRole("link", { name: /^previous/i }).click();
    await until("the first page", async () => (await people(page)).length === 100);
    const pages = main(page).getByRole("navigation", { name: "Pages of the list" });
    await pages.getByRole("link", { name: "2", exact: true }).click();
    await until("the second page by its number", async () => (await people(page)).length === 50);
    equal(await pages.locator("[aria-current=page]").innerText(), "2", "the page that is marked");
    await main(page).getByRole("navigation", { name: "Last names by letter" }).getByRole("link", { name: "L", exact: true }).click();
    await until("the letter leads to the first page", async () => (await people(page)).length === 100);
  });

  await step("on a phone, a search from far down shows who it finds", async () => {
    const page = await browser.open(crowd, "/office/", { session: crowd.session, viewport: { width: 390, height: 400 }, hasTouch: true, isMobile: true });
    await page.evaluate(() => scrollTo(0, 4000));
    await searchField(page).tap();
    await page.keyboard.type("lastname77");
    await counted(page, "1 of 150 people");
    const field = await searchField(page).boundingBox(), found = await main(page).locator("tbody tr").boundingBox();
    check(field.y >= 0 && found.y >= field.y + field.height && found.y + found.height <= 400, `the search is at ${field.y} px, the row at ${found.y} px`);
  });
}

// sorted returns the headers that have aria-sort, with its value.
function sorted(page) {
  return main(page).getByRole("table").locator("th[aria-sort]").evaluateAll((headers) =>
    headers.map((header) => `${header.innerText.trim()} ${header.getAttribute("aria-sort")}`));
}
