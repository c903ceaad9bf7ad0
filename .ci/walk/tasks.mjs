// The page of a person in a browser: focus, scripts, a service that does not answer.
import { check, equal, step } from "./steps.mjs";
import { atSignIn, counted, field, fill, invitation, main, notice, openPerson, saveButton, scan, search, searchField, signIn, words } from "./office.mjs";

const hasFocus = (element) => element.evaluate((found) => found === document.activeElement || found.contains(document.activeElement));

export async function tasks(browser, station) {
  const open = (path, options) => browser.open(station, path, { session: station.session, ...options });

  await step("the main tasks: sign in, add, find, edit, invite, sign out", async () => {
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
    equal((await station.list("Walked")).map(({ phoneNumber }) => phoneNumber), ["091 703"], "the phone");
    const link = await invitation(page, "Marko", "write");
    const code = main(page).getByRole("img", { name: "QR code of the link for Marko" });
    equal(await scan(code), link, "the content of the QR code");
    await page.emulateMedia({ media: "print" });
    check(await code.isVisible() && await main(page).getByRole("table").count() === 0, "the print shows more than the invitation");
    await page.emulateMedia({ media: "screen" });
    await page.goto("/office/");
    await page.getByRole("button", { name: "Sign out" }).click();
    await atSignIn(page);
    await page.goBack();
    await atSignIn(page);
  });

  await step("faults: the summary has the focus and links to the fields", async () => {
    const page = await open("/office/people/new");
    await fill(page, { email: "not an address", dateOfBirth: "31 February 1990" });
    await browser.expect(page, 422, () => saveButton(page).click());
    const summary = main(page).getByRole("alert");
    check(await hasFocus(summary), "the summary does not have the focus");
    await summary.getByRole("link").first().click();
    check(await hasFocus(field(page, "firstName")), "the summary does not link to its field");
  });

  await step("the settings: countries by their names", async () => {
    const page = await open("/office/settings");
    await page.getByLabel("Country").selectOption({ label: "Croatia" });
    await main(page).getByRole("button", { name: "Save" }).click();
    await notice(page).filter({ hasText: "The department was saved" }).waitFor();
    equal(await page.getByLabel("Country").inputValue(), "HR", "the country");
  });

  await step("a change of language keeps the typed search", async () => {
    for (const scripts of [false, true]) {
      const page = await open("/office/", { scripts });
      await searchField(page).fill("walked");
      for (const language of ["Deutsch", "English"]) await page.getByRole("button", { name: language }).click();
      equal(await searchField(page).inputValue(), "walked", "the search");
    }
  });

  await step("leaving typed text needs a confirmation", async () => {
    const page = await open("/office/people/new");
    await fill(page, { firstName: "Typed" });
    const dialog = page.waitForEvent("dialog");
    await page.getByRole("link", { name: "Birthdays" }).click();
    equal((await dialog).type(), "beforeunload", "the type of the dialog");
  });
}

// silent tests a service that does not answer.
export async function silent(browser, station) {
  const message = (page) => page.getByRole("status").filter({ hasText: "is not responding" });
  const open = (path) => browser.open(station, path, { session: station.session });

  await step("typed text is kept while the service does not answer", async () => {
    const person = await station.add({ firstName: "Task", lastName: "Silent", phoneNumber: "091 800" });
    const page = await open("/office/");
    const abort = (route) => route.abort("aborted");
    const silent = (on) => page.context()[on ? "route" : "unroute"]("**/office/**", abort);
    await silent(true);
    await searchField(page).pressSequentially("silent");
    await message(page).waitFor();
    await silent(false);
    await counted(page, "1 of \\d+ people"); // the page retries automatically
    for (const path of ["/office/people/new", `/office/people/${person.id}`]) {
      await page.goto(path);
      await fill(page, { firstName: path.endsWith("new") ? "Other" : "Task", lastName: "Silent", phoneNumber: "091 801" });
      await silent(true);
      await saveButton(page).click();
      await message(page).waitFor();
      await silent(false);
      await notice(page).filter({ hasText: "Silent" }).waitFor(); // the form is sent again automatically
      await page.goto(path);
      await fill(page, { firstName: "Task", lastName: "Silent", phoneNumber: "091 802" });
      await silent(true);
      await saveButton(page).click();
      await silent(false);
      await page.goto("/office/");
      await page.goto(path);
      equal(await field(page, "phoneNumber").inputValue(), "091 802", `the typed text at ${path}`);
      await page.getByRole("status").filter({ hasText: "did not respond" }).waitFor();
    }
  });
}
