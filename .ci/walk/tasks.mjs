// What people do with a person: add, edit, two at once, delete and undo, history.
import { check, equal, step, until } from "./steps.mjs";
import { counted, field, fill, main, nameOf, notice, openPerson, row, saveButton, searchField, values, words } from "./office.mjs";

const refused = [400, 422], conflict = [409, 412]; // statuses: the page has none of its own to promise

// tasks are done with people of their own, whose names have the number of the round.
export async function tasks(browser, station, scripts) {
  const how = scripts ? "" : ", no scripts";
  const round = scripts ? "One" : "Two";
  const open = (path, options) => browser.open(station, path, { session: station.session, scripts, ...options });
  const known = async (lastName) => (await station.list(lastName)).filter((person) => person.lastName === lastName);
  const added = (lastName, fields) => station.add({ firstName: "Task", lastName: `${lastName}${round}`, ...fields });

  await step(`add a person${how}`, async () => {
    const page = await open("/office/");
    await main(page).getByRole("link", { name: words.add }).click();
    await fill(page, { firstName: "Iva", lastName: `Added${round}`, phoneNumber: "091 700", email: "iva@example.com", dateOfBirth: "3 March 1985" });
    await saveButton(page).click();
    await notice(page).filter({ hasText: `Iva Added${round}` }).waitFor();
    const [person] = await known(`Added${round}`);
    equal([person.phoneNumber, person.email, person.dateOfBirth], ["091 700", "iva@example.com", "1985-03-03T00:00:00Z"], "what was kept");
  });

  await step(`the cursor is in the first field${how}`, async () => {
    const page = await open("/office/people/new");
    check(await field(page, "firstName").evaluate((input) => input === document.activeElement), "the first field does not have the focus");
    await page.keyboard.type("Iva");
    equal(await field(page, "firstName").inputValue(), "Iva", "what was typed");
  });

  await step(`a phone number without a digit is asked about, and kept${how}`, async () => {
    const page = await open("/office/people/new");
    await fill(page, { firstName: "Iva", lastName: `Asked${round}`, phoneNumber: "ask Marko" });
    await browser.expect(page, refused, () => saveButton(page).click());
    check((await main(page).getByRole("alert").innerText()).includes("no digit"), "the page does not ask about the phone number");
    equal(await field(page, "phoneNumber").inputValue(), "ask Marko", "what was typed");
    await saveButton(page).click();
    await notice(page).filter({ hasText: `Asked${round}` }).waitFor();
    equal((await known(`Asked${round}`)).map((person) => person.phoneNumber), ["ask Marko"], "what was kept");
  });

  await step(`a year of two digits, and a date that can be two days${how}`, async () => {
    const person = await added("Years");
    const page = await open(`/office/people/${person.id}`);
    await fill(page, { dateOfBirth: "1.2.85" });
    await saveButton(page).click();
    await notice(page).filter({ hasText: person.lastName }).waitFor();
    equal((await station.get(person.id)).body.dateOfBirth, "1985-02-01T00:00:00Z", "the date of birth");
    await page.goto(`/office/people/${person.id}`);
    await fill(page, { dateOfBirth: "4/5/85" });
    await browser.expect(page, refused, () => saveButton(page).click());
    await main(page).getByRole("radio", { name: "5 April 1985" }).check();
    await saveButton(page).click();
    await notice(page).filter({ hasText: person.lastName }).waitFor();
    equal((await station.get(person.id)).body.dateOfBirth, "1985-04-05T00:00:00Z", "the day that was chosen");
  });

  await step(`who is there already is said, and both are kept${how}`, async () => {
    const { lastName } = await added("Müller");
    const page = await open("/office/people/new");
    await fill(page, { firstName: "Task", lastName: `Mueller${round}`, phoneNumber: "" });
    if (scripts) await main(page).getByRole("status").filter({ hasText: lastName }).waitFor();
    await saveButton(page).click();
    await notice(page).filter({ hasText: `Mueller${round}` }).filter({ hasText: lastName }).waitFor();
    equal((await known(`Mueller${round}`)).length, 1, "people");
  });

  await step(`faults stand at their fields${how}`, async () => {
    const page = await open("/office/people/new");
    await fill(page, { phoneNumber: "091 701", email: "not an address", dateOfBirth: "31 February 1990" });
    await browser.expect(page, refused, () => saveButton(page).click());
    check((await page.title()).startsWith("Error: "), `the title after faults is ${await page.title()}`);
    const summary = main(page).getByRole("alert");
    for (const name of ["firstName", "lastName", "email", "dateOfBirth"]) {
      equal(await field(page, name).getAttribute("aria-invalid"), "true", `aria-invalid of ${name}`);
      const ids = (await field(page, name).getAttribute("aria-describedby") ?? "").split(/\s+/).filter(Boolean);
      const said = await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).innerText()));
      check(said.join("").trim() !== "", `nothing says what is wrong with ${name}`);
    }
    equal(await field(page, "phoneNumber").getAttribute("aria-invalid"), null, "aria-invalid of a good field");
    check(await summary.evaluate((element) => element.contains(document.activeElement)), "the summary does not have the focus");
    equal(await values(page, ["phoneNumber", "email", "dateOfBirth"]),
      { phoneNumber: "091 701", email: "not an address", dateOfBirth: "31 February 1990" }, "what was typed");
    await summary.getByRole("link").first().click();
    check(await field(page, "firstName").evaluate((input) => input === document.activeElement), "the summary does not lead to its field");
    await fill(page, { firstName: "Iva", lastName: `Corrected${round}`, email: "", dateOfBirth: "" });
    await saveButton(page).click();
    await notice(page).filter({ hasText: `Corrected${round}` }).waitFor();
    equal((await known(`Corrected${round}`)).length, 1, "people");
  });

  await step(`a form that is sent twice makes one person${how}`, async () => {
    const page = await open("/office/people/new");
    let sent;
    page.on("request", (request) => { if (request.method() === "POST") sent = request; });
    await fill(page, { firstName: "Iva", lastName: `Twice${round}` });
    await saveButton(page).dblclick();
    await notice(page).filter({ hasText: `Twice${round}` }).waitFor();
    equal((await known(`Twice${round}`)).length, 1, "people after a double click");
    const again = await page.request.post(sent.url(), { data: sent.postData(), maxRedirects: 0,
      headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: station.url } });
    equal(again.status(), 303, "the form once more");
    equal((await known(`Twice${round}`)).length, 1, "people after the form came once more");
  });

  await step(`edit${how}`, async () => {
    await added("Edited", { phoneNumber: "091 702" });
    const page = await open("/office/");
    await openPerson(page, `Edited${round}`);
    await fill(page, { phoneNumber: "091 703", dateOfBirth: "1990-05-15" });
    await saveButton(page).click();
    await notice(page).filter({ hasText: `Edited${round}` }).waitFor();
    const [person] = await known(`Edited${round}`);
    equal([person.phoneNumber, person.dateOfBirth], ["091 703", "1990-05-15T00:00:00Z"], "what was kept");
  });

  await step(`two at once: both are shown, and one chooses${how}`, async () => {
    const person = await added("Both", { phoneNumber: "091 1", email: "old@example.com" });
    const one = await open(`/office/people/${person.id}`), two = await open(`/office/people/${person.id}`);
    await fill(one, { phoneNumber: "091 2", email: "theirs@example.com" });
    await saveButton(one).click();
    await notice(one).filter({ hasText: `Both${round}` }).waitFor();
    await fill(two, { phoneNumber: "091 3", email: "mine@example.com", dateOfBirth: "1 May 1990" });
    await browser.expect(two, conflict, () => saveButton(two).click());
    const title = main(two).getByRole("heading", { level: 1, name: "Somebody else" });
    await title.waitFor();
    if (scripts) check(await title.evaluate((heading) => heading === document.activeElement), "what happened does not have the focus");
    equal((await station.get(person.id)).body.phoneNumber, "091 2", "the phone before anybody chose");
    await choice(two, "091 2").check();
    await choice(two, "mine@example.com").check();
    await saveButton(two).click();
    await notice(two).filter({ hasText: `Both${round}` }).waitFor();
    const { body } = await station.get(person.id);
    equal([body.phoneNumber, body.email, body.dateOfBirth], ["091 2", "mine@example.com", "1990-05-01T00:00:00Z"], "what was chosen");
  });

  await step(`edited by one, deleted by the other: nothing typed is lost${how}`, async () => {
    const person = await added("Gone", { phoneNumber: "091 704" });
    const page = await open(`/office/people/${person.id}`);
    await station.remove(person.id);
    await fill(page, { phoneNumber: "091 705" });
    await browser.expect(page, [404, ...conflict], () => saveButton(page).click());
    await page.getByRole("button", { name: "Bring back" }).first().waitFor();
    check((await page.content()).includes("091 705"), "what was typed is not on the page");
  });

  if (scripts) await step("while the program does not answer, nothing typed is lost", async () => {
    const person = await added("Silent", { phoneNumber: "091 800" });
    const page = await open("/office/");
    const abort = (route) => route.abort("aborted");
    const silent = (on) => page.context()[on ? "route" : "unroute"]("**/office/**", abort);
    const said = page.getByRole("status").filter({ hasText: "does not answer" });
    await silent(true);
    await searchField(page).pressSequentially("silent");
    await said.waitFor();
    equal(await searchField(page).inputValue(), "silent", "the search field");
    await silent(false);
    await counted(page, "1 of \\d+ people"); // it tries again by itself
    await silent(true);
    await row(page, person.lastName).getByRole("button", { name: words.delete }).click();
    await said.waitFor();
    await silent(false);
    await row(page, person.lastName).getByRole("button", { name: words.delete }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    for (const path of ["/office/people/new", `/office/people/${person.id}`]) {
      await page.goto(path);
      await fill(page, { firstName: "Task", lastName: person.lastName, phoneNumber: "091 801" });
      await silent(true);
      await saveButton(page).click();
      await silent(false);
      await page.goto("/office/");
      await page.goto(path);
      equal(await field(page, "phoneNumber").inputValue(), "091 801", `what was typed at ${path}`);
      await page.getByRole("status").filter({ hasText: "did not answer" }).waitFor();
      await saveButton(page).click();
      await notice(page).filter({ hasText: person.lastName }).waitFor();
      await page.goto(path);
      equal(await page.getByRole("status").filter({ hasText: "did not answer" }).count(), 0, "notices after it was saved");
    }
    equal((await known(person.lastName)).map(({ phoneNumber }) => phoneNumber), ["091 801", "091 801"], "what was kept");
    for (const path of ["/office/people/new", `/office/people/${person.id}`]) {
      await page.goto(path);
      await fill(page, { firstName: "Task", lastName: `Again${round}`, phoneNumber: "091 802" });
      await silent(true);
      await saveButton(page).click();
      await said.waitFor();
      equal(await field(page, "phoneNumber").inputValue(), "091 802", "what was typed");
      await silent(false);
      await notice(page).filter({ hasText: `Again${round}` }).waitFor(); // it is sent again by itself
    }
    await page.goto("/office/people/new");
    await fill(page, { firstName: "Task", lastName: `Lost${round}` });
    let sent = 0;
    await page.route("**/office/people", async (route) => {
      if (sent++) return route.continue();
      await route.fetch({ maxRedirects: 0 }); // the person is added, and the answer does not come
      await route.abort("aborted");
    });
    await saveButton(page).click();
    await notice(page).filter({ hasText: `Lost${round} was added` }).waitFor();
    check(sent > 1, `the form was sent ${sent} times`);
    equal([(await known(`Again${round}`)).length, (await known(`Lost${round}`)).length], [2, 1], "people");
  });

  if (scripts) await step("while an answer is late, the list says so", async () => {
    const person = await added("Late");
    const page = await open("/office/");
    const held = [];
    const hold = (route) => { held.push(route); };
    const said = page.getByRole("status").filter({ hasText: "does not answer" });
    const late = async (action) => {
      await page.route("**/office/**", hold);
      await action();
      await said.waitFor();
      await Promise.all(held.splice(0).map((route) => route.continue()));
      await page.unroute("**/office/**", hold);
    };
    await late(() => searchField(page).pressSequentially("late"));
    await counted(page, "1 of \\d+ people");
    await late(() => row(page, person.lastName).getByRole("button", { name: words.delete }).click());
    await notice(page).filter({ hasText: `${nameOf(person)} was deleted` }).waitFor();
  });

  for (const place of ["the row", "the person's page"]) {
    await step(`delete from ${place}, and undo${how}`, async () => {
      const person = await added(place === "the row" ? "Row" : "Page", { phoneNumber: "091 706" });
      const page = await open("/office/");
      const total = (await station.list()).length;
      if (place === "the row") {
        await row(page, person.lastName).getByRole("button", { name: words.delete }).click();
      } else {
        await openPerson(page, person.lastName);
        await main(page).getByRole("button", { name: words.delete }).click();
      }
      await notice(page).filter({ hasText: `${nameOf(person)} was deleted` }).waitFor();
      await counted(page, `${total - 1} people`);
      equal(await row(page, person.lastName).count(), 0, "rows of the person");
      equal((await station.get(person.id)).status, 404, "the API's answer");
      if (scripts) await page.evaluate(() => { window.still = true; });
      await page.getByRole("button", { name: "Undo" }).click();
      await row(page, person.lastName).waitFor();
      await counted(page, `${total} people`);
      equal((await station.get(person.id)).body, person, "the record");
      if (scripts) check(await page.evaluate(() => window.still), "undo has reloaded the page");
    });
  }

  await step(`a search is there again after Save, Cancel and Undo${how}`, async () => {
    const person = await added("Returned", { phoneNumber: "091 715" });
    await added("Returned", { firstName: "Zora" });
    const list = `/office/?search=Returned${round}&sortBy=firstName&sortDir=asc`;
    const page = await open(list);
    const back = async () => {
      await page.waitForURL((url) => url.searchParams.get("search") === `Returned${round}` && url.searchParams.get("sortBy") === "firstName");
      await page.locator("tr[aria-current=true]").filter({ hasText: person.lastName }).waitFor();
    };
    await openPerson(page, "Task");
    await main(page).getByRole("link", { name: "Cancel" }).click();
    await counted(page, /2 of \d+ people/.source);
    await openPerson(page, "Task");
    await fill(page, { phoneNumber: "091 716" });
    await saveButton(page).click();
    await back();
    await page.getByRole("button", { name: "Undo" }).click();
    await notice(page).filter({ hasText: "as it was before" }).waitFor();
    await back();
    equal((await station.get(person.id)).body.phoneNumber, "091 715", "the phone after Undo");
    await openPerson(page, "Task");
    await main(page).getByRole("button", { name: "Save and next" }).click();
    await page.getByRole("heading", { name: "Zora" }).waitFor();
    equal(await main(page).getByRole("button", { name: "Save and next" }).count(), 0, "buttons to go on behind the last");
  });

  await step(`a row is in sight where a change has moved it, and after Undo${how}`, async () => {
    for (let i = 0; i < 25; i++) await station.add({ firstName: "Task", lastName: `Far${round}${String.fromCharCode(97 + i)}` });
    const page = await open(`/office/?search=Far${round}`);
    await openPerson(page, `Far${round}a`);
    for (const lastName of [`Far${round}z`, `Far${round}a`]) {
      if (lastName.endsWith("a")) await page.getByRole("button", { name: "Undo" }).click();
      else await fill(page, { lastName }).then(() => saveButton(page).click());
      const place = page.locator("tr[aria-current=true]").filter({ hasText: lastName });
      await place.waitFor();
      await until(`${lastName} is in sight`, async () => {
        const { y, height } = await place.boundingBox();
        return y >= 0 && y + height <= 800;
      });
    }
  });

  await step(`the notice of a deletion stays until the next page${how}`, async () => {
    const person = await added("Notice");
    const page = await open("/office/");
    await row(page, person.lastName).getByRole("button", { name: words.delete }).click();
    await notice(page).filter({ hasText: `${nameOf(person)} was deleted` }).waitFor();
    await main(page).getByRole("link", { name: "Čović" }).first().click();
    await field(page, "lastName").waitFor();
    equal(await page.getByRole("button", { name: "Undo" }).count(), 0, "buttons to undo on the next page");
  });

  await step(`bring back from the deleted list${how}`, async () => {
    const person = await added("Back", { phoneNumber: "091 707" });
    const later = await added("Later");
    await station.remove(person.id);
    await station.remove(later.id);
    const page = await open("/office/");
    await page.getByRole("navigation").getByRole("link", { name: "History" }).click();
    await page.getByRole("navigation").getByRole("link", { name: "Deleted" }).click();
    await page.waitForURL("/office/deleted");
    const text = await main(page).innerText();
    check(text.indexOf(later.lastName) < text.indexOf(person.lastName), "the deleted list does not begin with the newest");
    await entry(page, person.lastName).getByRole("button", { name: "Bring back" }).click();
    await until("the person is back", async () => (await station.get(person.id)).status === 200);
    await page.goto("/office/deleted");
    equal(await entry(page, person.lastName).count(), 0, "entries in the deleted list");
  });

  await step(`history shows old and new${how}`, async () => {
    const person = await added("History", { phoneNumber: "091 708" });
    const page = await open(`/office/people/${person.id}`);
    await fill(page, { phoneNumber: "091 709" });
    await saveButton(page).click();
    await notice(page).filter({ hasText: person.lastName }).waitFor();
    await page.goto(`/office/people/${person.id}`);
    await main(page).getByRole("link", { name: words.history }).click();
    await page.waitForURL(`/office/people/${person.id}/history`);
    for (const path of [page.url(), "/office/history"]) {
      await page.goto(path);
      const text = await main(page).innerText();
      for (const wanted of [person.lastName, "Phone", "091 708", "091 709", "first key (browser)", "first key"]) {
        check(text.includes(wanted), `${path} does not show "${wanted}": ${text.slice(0, 600)}`);
      }
      check(text.indexOf("091 709") < text.lastIndexOf("091 708"), `${path} does not begin with the newest`);
    }
  });

  await step(`put back what an entry of the history has changed, and undo that${how}`, async () => {
    const person = await added("Putback", { phoneNumber: "091 710" });
    await station.change(person, { phoneNumber: "091 711" });
    const page = await open("/office/history");
    await page.getByRole("textbox", { name: "Person", exact: true }).fill(person.lastName);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await entry(page, "was changed").getByRole("button", { name: "Put this back" }).click();
    await notice(page).filter({ hasText: `${nameOf(person)} is as it was before: Phone` }).waitFor();
    equal((await station.get(person.id)).body.phoneNumber, "091 710", "the phone number");
    await page.getByRole("button", { name: "Undo" }).click();
    await entry(page, "was changed").nth(2).waitFor();
    equal((await station.get(person.id)).body.phoneNumber, "091 711", "the phone number after Undo");
    const add = entry(page, "was added").getByRole("button", { name: "Put this back" });
    await browser.expect(page, conflict, () => add.click());
    await page.getByRole("heading", { name: "was changed since then" }).waitFor();
    equal((await station.get(person.id)).status, 200, "the API's answer");
  });
}

// choice is the radio button of a conflict whose label has this value.
const choice = (page, value) => main(page).getByRole("radio", { name: new RegExp(value.replaceAll(".", "\\.")) });

// entry is what stands about a person in a table or a list.
const entry = (page, text) => main(page).locator("tbody tr, li").filter({ hasText: text });
