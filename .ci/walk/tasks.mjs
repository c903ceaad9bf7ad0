// What people do with a person, as far as only a browser shows it: focus, scripts, a
// service that does not answer.
import { check, equal, step, until } from "./steps.mjs";
import { atSignIn, counted, field, fill, invitation, main, nameOf, notice, openPerson, row, saveButton, scan, search, searchField, signIn, words } from "./office.mjs";

const refused = [400, 422], conflict = [409, 412]; // statuses: the page has none of its own to promise
const hasFocus = (element) => element.evaluate((found) => found === document.activeElement || found.contains(document.activeElement));

export async function tasks(browser, station) {
  const open = (path, options) => browser.open(station, path, { session: station.session, ...options });
  const known = async (lastName) => (await station.list(lastName)).filter((person) => person.lastName === lastName);
  const added = (lastName, fields) => station.add({ firstName: "Task", lastName, ...fields });

  await step("the main tasks: sign in, add, find, edit, put back, invite, sign out", async () => {
    const page = await browser.open(station, "/office/");
    await signIn(page, station.key);
    await main(page).getByRole("link", { name: words.add }).click();
    check(await hasFocus(field(page, "firstName")), "the first field does not have the focus");
    await fill(page, { firstName: "Iva", lastName: "Walked", phoneNumber: "091 700", email: "iva@example.com", dateOfBirth: "3 March 1985" });
    await saveButton(page).click();
    await notice(page).filter({ hasText: "Iva Walked" }).waitFor();
    await search(page, "walked");
    await counted(page, "1 of \\d+ people");
    await openPerson(page, "Walked");
    await fill(page, { phoneNumber: "091 703" });
    await saveButton(page).click();
    await notice(page).filter({ hasText: "Walked" }).waitFor();
    await openPerson(page, "Walked");
    await main(page).getByRole("link", { name: words.history }).click();
    await main(page).getByRole("button", { name: "Put this back" }).first().click();
    await notice(page).filter({ hasText: "is as it was before: Phone" }).waitFor();
    equal((await known("Walked")).map(({ phoneNumber }) => phoneNumber), ["091 700"], "the phone");
    const link = await invitation(page, "Marko", "write");
    const code = main(page).getByRole("img", { name: "QR code of the link for Marko" });
    equal(await scan(code), link, "what a camera reads");
    await page.emulateMedia({ media: "print" });
    check(await code.isVisible() && await main(page).getByRole("table").count() === 0, "the invitation is not printed alone");
    await page.emulateMedia({ media: "screen" });
    const guest = await browser.open(station, null);
    await guest.goto(link);
    await main(guest).getByRole("button", { name: words.signIn }).click();
    await guest.waitForURL("/office/");
    await page.goto("/office/");
    await page.getByRole("button", { name: "Sign out" }).click();
    await atSignIn(page);
    await page.goBack();
    await atSignIn(page);
  });

  await step("faults: the summary has the focus and leads to the fields", async () => {
    const page = await open("/office/people/new");
    await fill(page, { email: "not an address", dateOfBirth: "31 February 1990" });
    await browser.expect(page, refused, () => saveButton(page).click());
    const summary = main(page).getByRole("alert");
    check(await hasFocus(summary), "the summary does not have the focus");
    await summary.getByRole("link").first().click();
    check(await hasFocus(field(page, "firstName")), "the summary does not lead to its field");
  });

  await step("while somebody is typed, the page says who is there already", async () => {
    await added("Müller");
    const page = await open("/office/people/new");
    await fill(page, { firstName: "Task", lastName: "Mueller", phoneNumber: "" });
    await main(page).getByRole("status").filter({ hasText: "Müller" }).waitFor();
  });

  await step("two at once: what happened has the focus, and one chooses", async () => {
    const person = await added("Both", { phoneNumber: "091 1", email: "old@example.com" });
    const page = await open(`/office/people/${person.id}`);
    await station.change(person, { phoneNumber: "091 2", email: "theirs@example.com" });
    await fill(page, { phoneNumber: "091 3", email: "mine@example.com" });
    await browser.expect(page, conflict, () => saveButton(page).click());
    check(await hasFocus(main(page).getByRole("heading", { level: 1, name: "Somebody else" })), "what happened does not have the focus");
    for (const value of ["091 2", "mine@example\\.com"]) await main(page).getByRole("radio", { name: new RegExp(value) }).check();
    await saveButton(page).click();
    await notice(page).filter({ hasText: "Both" }).waitFor();
    const { body } = await station.get(person.id);
    equal([body.phoneNumber, body.email], ["091 2", "mine@example.com"], "what was chosen");
  });

  await step("a double click saves one person", async () => {
    const page = await open("/office/people/new");
    await fill(page, { firstName: "Iva", lastName: "Twice" });
    await saveButton(page).dblclick();
    await notice(page).filter({ hasText: "Twice" }).waitFor();
    equal((await known("Twice")).length, 1, "people");
  });

  await step("delete and undo do not reload the page", async () => {
    const person = await added("Row");
    const page = await open("/office/");
    await page.evaluate(() => { window.still = true; });
    await row(page, "Row").getByRole("button", { name: words.delete }).click();
    await notice(page).filter({ hasText: `${nameOf(person)} was deleted` }).waitFor();
    equal(await row(page, "Row").count(), 0, "rows of the person");
    await page.getByRole("button", { name: "Undo" }).click();
    await row(page, "Row").waitFor();
    check(await page.evaluate(() => window.still), "undo has reloaded the page");
    equal((await station.get(person.id)).body, person, "the record");
  });

  await step("typed text is not left without a question", async () => {
    const page = await open("/office/people/new");
    await fill(page, { firstName: "Typed" });
    const asked = page.waitForEvent("dialog");
    await page.getByRole("link", { name: "Birthdays" }).click();
    equal((await asked).type(), "beforeunload", "what asks");
  });

  await step("a row is in sight where a change has moved it, and after Undo", async () => {
    for (let i = 0; i < 25; i++) await added(`Far${String.fromCharCode(97 + i)}`);
    const page = await open("/office/?search=Far");
    await openPerson(page, "Fara");
    for (const lastName of ["Farz", "Fara"]) {
      if (lastName === "Fara") await page.getByRole("button", { name: "Undo" }).click();
      else await fill(page, { lastName }).then(() => saveButton(page).click());
      const place = page.locator("tr[aria-current=true]").filter({ hasText: lastName });
      await place.waitFor();
      await until(`${lastName} is in sight`, async () => {
        const { y, height } = await place.boundingBox();
        return y >= 0 && y + height <= 800;
      });
    }
  });
}

// silent is a service that does not answer, or answers late.
export async function silent(browser, station) {
  const said = (page) => page.getByRole("status").filter({ hasText: "does not answer" });
  const open = (path) => browser.open(station, path, { session: station.session });

  await step("while the service does not answer, nothing typed is lost", async () => {
    const person = await station.add({ firstName: "Task", lastName: "Silent", phoneNumber: "091 800" });
    const page = await open("/office/");
    const abort = (route) => route.abort("aborted");
    const silent = (on) => page.context()[on ? "route" : "unroute"]("**/office/**", abort);
    await silent(true);
    await searchField(page).pressSequentially("silent");
    await said(page).waitFor();
    await silent(false);
    await counted(page, "1 of \\d+ people"); // it tries again by itself
    for (const path of ["/office/people/new", `/office/people/${person.id}`]) {
      await page.goto(path);
      await fill(page, { firstName: "Task", lastName: "Silent", phoneNumber: "091 801" });
      await silent(true);
      await saveButton(page).click();
      await said(page).waitFor();
      await silent(false);
      await notice(page).filter({ hasText: "Silent" }).waitFor(); // it is sent again by itself
      await page.goto(path);
      await fill(page, { firstName: "Task", lastName: "Silent", phoneNumber: "091 802" });
      await silent(true);
      await saveButton(page).click();
      await silent(false);
      await page.goto("/office/");
      await page.goto(path);
      equal(await field(page, "phoneNumber").inputValue(), "091 802", `what was typed at ${path}`);
      await page.getByRole("status").filter({ hasText: "did not answer" }).waitFor();
    }
  });

  await step("a form whose answer was lost adds one person", async () => {
    const page = await open("/office/people/new");
    await fill(page, { firstName: "Task", lastName: "Lost" });
    let sent = 0;
    await page.route("**/office/people", async (route) => {
      if (sent++) return route.continue();
      await route.fetch({ maxRedirects: 0 }); // the person is added, and the answer does not come
      await route.abort("aborted");
    });
    await saveButton(page).click();
    await notice(page).filter({ hasText: "Lost was added" }).waitFor();
    check(sent > 1, `the form was sent ${sent} times`);
    equal((await station.list("Lost")).length, 1, "people");
  });

  await step("while an answer is late, the list says so", async () => {
    await station.add({ firstName: "Task", lastName: "Late" });
    const page = await open("/office/");
    const held = [];
    await page.route("**/office/**", (route) => { held.push(route); });
    await searchField(page).pressSequentially("late");
    await said(page).waitFor();
    await Promise.all(held.map((route) => route.continue()));
    await page.unrouteAll();
    await counted(page, "1 of \\d+ people");
  });
}
