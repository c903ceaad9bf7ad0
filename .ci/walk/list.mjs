// The list in a browser: scripts, the Back button, a phone, the clipboard.
import { check, equal, step, until } from "./steps.mjs";
import { counted, field, main, notice, openPerson, people, row, search, searchField, words } from "./office.mjs";

// first is the first visit to a demo: one button shows all people. It keeps the session for later visits.
export async function first(browser, demo) {
  await step("the link of demo, one press, 40 people", async () => {
    const page = await browser.open(demo, null);
    await page.goto(demo.link);
    await (await browser.open(demo, null)).goto(demo.link); // like a mail scanner that follows the link
    await until("the code is removed from the address", () => !page.url().includes("code="));
    await main(page).getByRole("button").click();
    await page.waitForURL("/office/");
    await counted(page, "40 people");
    equal((await people(page)).length, 40, "rows");
    const { y, height } = await main(page).locator("tbody tr").first().boundingBox();
    check(y + height < 800, `the first person is ${y} px below the top`);
    demo.session = await page.context().storageState();
  });
}

// tasks are the tasks on the list of a department that includes Ana Čović.
export async function tasks(browser, station) {
  const open = (path, options) => browser.open(station, path, { session: station.session, ...options });
  const all = (await station.list()).length;

  await step("search while typing; Back, reload and the address keep the search", async () => {
    const page = await open("/office/");
    for (const text of ["xyzzy", "covic"]) {
      await search(page, text);
      await counted(page, `${text === "covic" ? 1 : 0} of ${all} people`);
    }
    await until("the address contains the search", () => new URL(page.url()).searchParams.get("search") === "covic");
    await page.reload();
    await counted(page, `1 of ${all} people`);
    await openPerson(page, "Čović");
    await page.goBack();
    await counted(page, `1 of ${all} people`);
    equal(await searchField(page).inputValue(), "covic", "the search field after Back");
    await search(page, "");
    await counted(page, `${all} people`);
  });

  await step("a row opens the person, but not while text is selected; Enter opens the only hit", async () => {
    const page = await open("/office/");
    check(await main(page).getByRole("link", { name: "Possible duplicates" }).isVisible(), "the list has no link to possible duplicates");
    const born = row(page, "Čović").locator(".born");
    const { x, y, height } = await born.boundingBox();
    await page.mouse.move(x + 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + 60, y + height / 2);
    await page.mouse.up();
    check(await page.evaluate(() => getSelection().toString()), "no text is selected");
    await row(page, "Čović").getByRole("checkbox").check();
    equal(new URL(page.url()).pathname, "/office/", "the address");
    await born.click({ position: { x: 150, y: 5 } });
    await field(page, "lastName").waitFor();
    await page.goBack();
    await searchField(page).fill("covic");
    await page.keyboard.press("Enter");
    await field(page, "lastName").waitFor();
    await page.goBack();
    await counted(page, `1 of ${all} people`);
    await searchField(page).fill("walk");
    await page.keyboard.press("Enter");
    await counted(page, `5 of ${all} people`);
    const plain = await open("/office/?search=covic", { scripts: false });
    await plain.getByRole("checkbox").check();
    await main(plain).locator("td.email a").click({ trial: true });
    await main(plain).locator("td.born").click({ position: { x: 150, y: 5 }, force: true }); // the link covers it
    await field(plain, "lastName").waitFor();
  });

  await step("delete the selected people without a reload, and undo", async () => {
    const page = await open("/office/?search=walk");
    await page.evaluate(() => { window.still = true; });
    for (const name of ["Walk1", "Walk3"]) await row(page, name).getByRole("checkbox").check();
    await main(page).getByRole("button", { name: words.delete }).click();
    await notice(page).filter({ hasText: "2 people were deleted" }).waitFor();
    await counted(page, `3 of ${all - 2} people`);
    await page.getByRole("button", { name: "Undo" }).click();
    await counted(page, `5 of ${all} people`);
    check(await page.evaluate(() => window.still), "delete or undo reloaded the page");
  });

  await step("the list on a phone", async () => {
    const page = await open("/office/", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const seen = await main(page).locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().toJSON()));
    check(seen.every(({ height }) => height <= 64), `a row is ${Math.max(...seen.map(({ height }) => height))} px high`);
    const inSight = seen.filter(({ bottom }) => bottom <= 844).length;
    check(inSight >= Math.min(8, all), `${inSight} people are visible`);
    const { x: left } = await main(page).locator("tbody .first").first().boundingBox();
    check(left < seen[0].left, "the list cuts off the left end of a J");
    const call = main(page).getByRole("link", { name: "Call Ana Čović", exact: true });
    equal(await call.getAttribute("href"), "tel:0912345678", "the button to call");
    equal(await main(page).getByRole("button", { name: words.delete }).count(), 0, "buttons to delete");
    const bold = (part) => main(page).locator(`tbody ${part}`).first().evaluate((cell) => Number(getComputedStyle(cell).fontWeight) > 500);
    equal([await bold(".first"), await bold(".last")], [false, true], "bold names, by last name");
    await main(page).getByText("Sort: Last name", { exact: true }).click();
    await main(page).getByLabel("Sort by").selectOption("First name");
    await main(page).getByRole("button", { name: "Sort", exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get("sortBy") === "firstName");
    equal([await bold(".first"), await bold(".last")], [true, false], "bold names, by first name");
    await page.setViewportSize({ width: 320, height: 844 });
    await page.getByRole("button", { name: "Deutsch" }).click();
    await main(page).getByText("Sortieren: Vorname", { exact: true }).click();
    equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, "the width of the page with open sorting");
    await page.getByRole("button", { name: "English" }).click();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto("/office/");
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    check((await searchField(page).boundingBox()).y >= 0, "the search does not stay visible");
    await search(page, "covic");
    await counted(page, `1 of ${all} people`);
    const { x, y, height } = await main(page).locator("tbody tr").boundingBox();
    await page.touchscreen.tap(x + 250, y + height / 2); // next to the name
    const [large, message, edit] = await Promise.all([/^Call 091\s234\s5678$/, /^Message$/, /^Edit$/].map((name) => main(page).getByRole("link", { name }).boundingBox()));
    check(large.height >= 48 && large.width >= 300 && large.y < message.y && message.y < edit.y, "the button to call is not large, or not first");
    equal(await main(page).getByRole("textbox").count(), 0, "fields before Edit");
    await main(page).getByRole("link", { name: "Edit", exact: true }).click();
    await field(page, "lastName").waitFor();
  });

  await step("a number and a date stay on one line", async () => {
    const person = await station.add({ firstName: "Ivana", lastName: "Long", phoneNumber: "+385 (0)91 820 / 8279", dateOfBirth: "1974-09-20" });
    const number = "+385 (0)91 820 / 8279", born = "20 de septiembre de 1974";
    async function whole(page, path, ...values) {
      if (path) await page.goto(path);
      const { width } = page.viewportSize();
      const lines = await main(page).locator(".whole:visible").evaluateAll((all) => all.map((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        const { height, right } = range.getBoundingClientRect();
        const within = one.closest("td")?.getBoundingClientRect().right ?? right;
        return [one.textContent.trim(), right > within + 1 ? Infinity : height, parseFloat(getComputedStyle(one).lineHeight)];
      }));
      for (const value of values) check(lines.some(([text]) => text === value), `${path} lacks ${value}: ${lines}`);
      for (const [text, height, line] of lines) check(height < 1.5 * line, `${text} wraps at ${page.url()}, ${width} px wide`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(wide <= width, `${page.url()} is ${wide} px wide on ${width} px`);
    }
    let code;
    const widths = [320, 390, 768, 1024, 1280];
    for (const width of widths) {
      const page = await open(null, { locale: "es", viewport: { width, height: 800 } });
      for (const [path, ...values] of [...(width < 600 ? [] : [["/office/?search=long", number, born]]), [`/office/people/${person.id}`, number, born],
        [`/office/people/${person.id}/history`, number, born], ["/office/print?list=full&search=long", number, born], ["/office/birthdays?months=all", "20 de septiembre"]]) {
        await whole(page, path, ...values);
        const covered = await main(page).locator(".diff tbody tr").evaluateAll((all) => all.filter(({ children: [label, value] }) => {
          const [one, other] = [label, value].map((part) => part.getBoundingClientRect());
          return one.right > other.left + 1 && one.bottom > other.top + 1;
        }).length);
        equal(covered, 0, `labels over values at ${path}, ${width} px wide`);
      }
      await page.goto("/office/print");
      code = await main(page).locator(".code").innerText();
    }
    const sheet = await open(null, { locale: "es", viewport: { width: 680, height: 1000 } }); // A4 without margins
    await sheet.emulateMedia({ media: "print" });
    await whole(sheet, "/office/", number, born);
    const highest = await main(sheet).locator("tbody tr").evaluateAll((rows) => Math.max(...rows.map(({ offsetHeight }) => offsetHeight)));
    check(highest < 70, `a row of the printed page is ${highest} px high`);
    await sheet.goto("/office/print?columns=Unterschrift,anwesend");
    const headings = await main(sheet).locator("th.blank").evaluateAll((cells) => cells.map(({ offsetHeight }) => offsetHeight));
    check(Math.max(...headings) < 40, `the headings of empty columns wrap: ${headings}`);
    const other = await station.add({ firstName: "Iva", lastName: "Long", phoneNumber: "+385 (0)91 820 / 8278", dateOfBirth: "1975-09-20" });
    for (const width of [320, 768, 1280]) {
      const page = await open(null, { locale: "es", viewport: { width, height: 800 } });
      await whole(page, `/office/people/${person.id}/merge?with=${other.id}`, number, born);
      for (const path of ["/office/compare", "/office/import"]) {
        await page.goto(path);
        await main(page).locator("#text").fill("Nombre;Apellidos;Teléfono;Fecha de nacimiento\nNueva;Persona;+385 (0)91 820 / 8277;20/9/1974\n" +
          "Ivana;Long;+385 (0)91 820 / 8279;21/9/1974\n");
        await main(page).locator("button.primary").click();
        await main(page).getByText("Nueva Persona").first().waitFor({ state: "attached" });
        await main(page).locator("details").evaluateAll((all) => all.forEach((one) => { one.open = true; }));
        await whole(page, "", "+385 (0)91 820 / 8277", born);
        if (width !== 1280 || path !== "/office/compare") continue;
        await page.setViewportSize({ width: 680, height: 1000 });
        await page.emulateMedia({ media: "print" });
        await whole(page, "", "21 de septiembre de 1974");
        await page.emulateMedia({ media: "screen" });
        await page.setViewportSize({ width, height: 800 });
      }
    }
    for (const { id } of [other, person]) await station.ask(204, "DELETE", `/firefighters/${id}`);
    for (const width of widths) await whole(await open(null, { viewport: { width, height: 800 } }), `/office/paper?code=${code}`, number);
  });

  await step("copy e-mail addresses", async () => {
    const page = await open("/office/emails?search=walk");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const text = await main(page).locator("textarea, output, .copy, [readonly]").first().evaluate((element) => element.value ?? element.textContent);
    check(text.includes("walk@example.com"), `the addresses are ${text}`);
    await main(page).getByRole("button", { name: /^copy/i }).click();
    equal(await page.evaluate(() => navigator.clipboard.readText()), text.trim(), "the clipboard");
  });
}
