// Lists: bringing one in and taking that back, getting one out, and comparing.
import { readFileSync } from "node:fs";
import { check, equal, step, until } from "./steps.mjs";
import { main, notice, row } from "./office.mjs";
import { inspect } from "./pages.mjs";

const refused = [422];
const button = (page, name) => main(page).getByRole("button", { name });
const file = (name, text) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

// bring brings a list and waits for what would happen.
export async function bring(page, list, action = "Check the list") {
  await page.getByLabel("File", { exact: true }).setInputFiles(list);
  await button(page, action).click();
  await page.locator("#reading").waitFor();
  await page.waitForLoadState(); // a long page comes in pieces
}

// tasks are done with people of their own, whose names have the number of the round.
export async function tasks(browser, station, scripts) {
  const how = scripts ? "" : ", no scripts";
  const round = scripts ? "One" : "Two";
  const open = (path, options) => browser.open(station, path, { session: station.session, scripts, ...options });
  const people = async (lastName) => (await station.list(lastName)).length;

  await step(`bring a list in, and take it back${how}`, async () => {
    const before = await people("");
    const page = await open("/office/");
    await page.getByRole("navigation").getByRole("link", { name: "Lists" }).click();
    await bring(page, file("spring.csv", `Vorname;Nachname;Handy;Rang\nIva;Import${round};091 1;LM\nLuka;Import${round};;\n`));
    check((await main(page).innerText()).includes("2 people would be added"), `the page says ${await main(page).innerText()}`);
    await page.reload();
    equal(await people(""), before, "how many people there are after a check");
    await button(page, "Import 2 people").click();
    await notice(page).filter({ hasText: "2 people were imported" }).waitFor();
    equal(await people(`Import${round}`), 2, "how many people were imported");
    await row(page, `Import${round}`).first().waitFor();
    check((await page.locator("#count").innerText()).startsWith("2 of "), `the list says ${await page.locator("#count").innerText()}`);
    await page.goBack();
    check((await main(page).innerText()).includes("imported before"), `Back leads to ${page.url()}`);
    await page.goForward();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await notice(page).filter({ hasText: "was taken back" }).waitFor();
    equal(await people(`Import${round}`), 0, "how many people are left after undo");
    await page.goto("/office/imports");
    check((await row(page, "spring.csv").first().innerText()).includes("taken back"), "the list of imports does not say that it was taken back");
    await page.setViewportSize({ width: 320, height: 800 });
    const lines = await row(page, "spring.csv").first().getByText("2 added").evaluate((value) => {
      const range = document.createRange();
      range.selectNodeContents([...value.childNodes].find((node) => node.textContent.includes("2 added")));
      return new Set([...range.getClientRects()].map((line) => line.top)).size;
    });
    equal(lines, 1, "the lines of what an import did, at 320 px");
  });

  await step(`correct what a column is, and the order of dates${how}`, async () => {
    const page = await open("/office/import");
    await browser.expect(page, refused, () => bring(page, file("mixed.csv", `First name;Last name;Mobile;Home phone;Birthday\nEva;Mixed${round};1;2;05/06/1990\n`)));
    const summary = main(page).getByRole("alert");
    check(await summary.evaluate((element) => element.contains(document.activeElement)), "the summary does not have the focus");
    await page.getByLabel("Home phone").selectOption({ label: "Leave out" });
    await page.getByLabel("Mobile").selectOption({ label: "Phone" });
    await browser.expect(page, refused, () => button(page, "Check again").click());
    await page.getByLabel("Dates are written as").selectOption("mdy");
    await button(page, "Check again").click();
    check((await row(page, `Mixed${round}`).innerText()).includes("6 May 1990"), `the row is ${await row(page, `Mixed${round}`).innerText()}`);
  });

  await step(`refused rows say why, and can be left out${how}`, async () => {
    const page = await open("/office/import");
    await bring(page, file("bad.csv", `First name;Last name;E-mail\nEva;Bad${round};no\nIva;Good${round};iva@example.com\n`));
    check((await row(page, `Bad${round}`).innerText()).includes("not an e-mail address"), "the row does not say why it is refused");
    equal(await button(page, /^Import/).count(), 1, "buttons to import while a row is refused");
    const [download] = await Promise.all([page.waitForEvent("download"), button(page, "Download all rows with the reasons").click()]);
    check(readFileSync(await download.path(), "utf8").includes("refused"), "the report does not say what is refused");
    await page.getByRole("textbox", { name: /^E-mail/ }).fill(`bad${round}`);
    await button(page, "Check again").click();
    equal(await page.getByRole("textbox", { name: /^E-mail/ }).inputValue(), `bad${round}`, "the cell after a check");
    await button(page, "Import 1 person and leave out the 1 refused row").click();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await notice(page).filter({ hasText: "was taken back" }).waitFor();
  });

  await step(`say who a row is, and correct a cell${how}`, async () => {
    const [ours] = await station.list("Čović");
    const page = await open("/office/import");
    await bring(page, file("spring.csv", `First name;Last name;Phone;E-mail;Birthday\nAna;Horvat${round};1;${ours.email};15.05.1990\nIva;Choice${round};2;iva@;\nMia;Choice${round};3;;\n`));
    const choice = page.getByRole("group", { name: `Row 2: Ana Horvat${round}` });
    check((await choice.innerText()).includes("same e-mail address and date of birth"), `the choice is ${await choice.innerText()}`);
    await choice.getByRole("radio", { name: "This is Ana Čović, born 15 May 1990" }).check();
    await page.getByRole("textbox", { name: /^E-mail/ }).fill("iva@example.com");
    await page.keyboard.press("Enter");
    await button(page, "Import 2 people").click();
    await notice(page).filter({ hasText: "2 people were imported" }).waitFor();
    equal((await station.list(`Choice${round}`)).map((person) => person.email), ["iva@example.com", null], "the addresses");
    equal((await station.list("Horvat")).length, 0, "how many have the other name");
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await notice(page).filter({ hasText: "was taken back" }).waitFor();
  });

  await step(`get a list out${how}`, async () => {
    const page = await open("/office/?search=walk");
    await main(page).getByRole("link", { name: "Export these people" }).click();
    await page.getByLabel("Text with columns").check();
    const [download] = await Promise.all([page.waitForEvent("download"), button(page, "Download").click()]);
    check(/^people-\d{4}-\d\d-\d\d\.csv$/.test(download.suggestedFilename()), `the file is called ${download.suggestedFilename()}`);
    const text = readFileSync(await download.path(), "utf8");
    check(text.includes("Walk0") && !text.includes("Čović"), `the file has ${text}`);
  });

  await step(`compare with a list of others${how}`, async () => {
    const page = await open("/office/compare");
    await bring(page, file("insurer.csv", "Name;Vorname;Telefon\nČović;Ana;091 999\nOtto;Other;1\n"), "Compare");
    const text = await main(page).innerText();
    for (const wanted of ["insurer.csv", "Only on their list", "Only on our list", "What differs", "091 999"]) check(text.includes(wanted), `"${wanted}" is not in ${text}`);
    equal(await button(page, "Print").count(), scripts ? 1 : 0, "buttons to print");
    const [download] = await Promise.all([page.waitForEvent("download"), button(page, "Download all of it").click()]);
    equal(download.suggestedFilename(), "comparison.xlsx", "the name of the file");
  });
}

// dropped lists need scripts.
export async function dropped(browser, station) {
  const open = () => browser.open(station, "/office/import", { session: station.session });
  const send = (page, type, target, name) => page.evaluate(([type, target, name]) => {
    const data = new DataTransfer();
    if (name) data.items.add(new File(["First name;Last name\nIva;Dropped\n"], name, { type: "text/csv" }));
    else data.setData("text/plain", "First name\tLast name\nIva\tPasted\n");
    const make = type === "paste" ? (options) => new ClipboardEvent(type, { clipboardData: data, ...options }) : (options) => new DragEvent(type, { dataTransfer: data, ...options });
    document.querySelector(target).dispatchEvent(make({ bubbles: true, cancelable: true }));
  }, [type, target, name]);

  await step("drop a file on the page", async () => {
    const page = await open();
    await send(page, "dragover", "h1", "dropped.csv");
    await send(page, "drop", "h1", "dropped.csv");
    await button(page, "Check the list").click();
    await main(page).getByRole("heading", { name: "dropped.csv" }).waitFor();
  });

  await step("paste rows of a spreadsheet, and a file", async () => {
    const page = await open();
    await send(page, "paste", "body");
    check((await page.getByLabel("Or paste rows").inputValue()).includes("Pasted"), "the rows are not in the field");
    check(await button(page, "Check the list").evaluate((element) => element === document.activeElement), "the button does not have the focus");
    await send(page, "paste", "textarea", "pasted.csv");
    await until("the file is chosen", () => page.locator("#file").evaluate((input) => input.files.length === 1));
  });
}

// everybody checks the pages that show a list, as pages.mjs checks those that an
// address leads to.
export async function everybody(browser, station) {
  const list = `First name;Last name;Phone;E-mail;Birthday;Rank\nAna;Čović;091 999;;15.05.1990;HBM\n${"Iva;Longlastname;;no;;\n".repeat(3)}Mia;New;;mia@example.com;;\n;;091 5;;no;\n;;;;no;\n\u200b;\u200b;;no;;\n`;
  await step("axe-core and width: a list with questions", async () => {
    const page = await browser.open(station, "/office/import", { session: station.session });
    const questions = `First name;Last name;Phone;E-mail;Birthday\nAna;Horvat;0911 2;ana@example.com;15.05.1990\nAna;Covicz;911 234;;15.05.1990\nIva;Axe;;no;--05-15\nZoe;Walk2;098 22;;\n${"Mia;Twice;1;;\n".repeat(2)}`;
    await bring(page, file("questions.csv", questions));
    await inspect(page);
    await page.getByRole("radio", { name: /^This is Ana/ }).first().check();
    await button(page, "Show what differs").click();
    await page.getByLabel("Take the spelling").or(page.getByLabel("Change people who are there")).first().waitFor();
    await inspect(page);
    await page.goto("/office/import");
    await bring(page, file("names.csv", "Name\n\"Kos, Eva\"\n\"Kos, Mia\"\nSteiner Maria\n"));
    await inspect(page);
    await page.goto("/office/compare");
    await bring(page, file("questions.csv", questions), "Compare");
    await inspect(page);
  });

  await step("axe-core and width: lists", async () => {
    const page = await browser.open(station, "/office/import", { session: station.session });
    await bring(page, file("a list with quite a long name of its own.csv", list));
    await main(page).locator("details").evaluate((element) => { element.open = true; });
    await inspect(page);
    await page.goto("/office/import");
    await browser.expect(page, refused, () => bring(page, file("mixed.csv", "First name;Last name;DOB;Birthday\nEva;Mixed;1990-05-15;1990-05-16\n")));
    await inspect(page);
    await page.goto("/office/import");
    await bring(page, { name: "old.csv", mimeType: "text/csv", buffer: Buffer.from("First name;Last name\nMia;Mari\xe8\n", "latin1") });
    await inspect(page);
    await page.goto("/office/import");
    await browser.expect(page, refused, () => button(page, "Check the list").click());
    await inspect(page);
    await page.goto("/office/compare");
    await bring(page, file("insurer.csv", list), "Compare");
    await inspect(page);
    await page.goto("/office/import");
    await bring(page, file("two.csv", "First name;Last name\nIva;Axe1\nIva;Axe2\n"));
    await button(page, "Import 2 people").click();
    await inspect(page);
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await notice(page).filter({ hasText: "was taken back" }).waitFor();
    await inspect(page);
  });
}

// addresses returns those of pages that show a list.
export async function addresses(browser, station) {
  const page = await browser.open(station, "/office/import", { session: station.session, scripts: false });
  await bring(page, file("list.csv", "First name;Last name;Phone;Rank\nAna;Čović;091 999;HBM\nIva;;1;\n"));
  const token = await page.locator("#reading input[name=token]").inputValue();
  await page.close();
  return { "a list to import": `/office/import?token=${token}`, "a comparison": `/office/compare?token=${token}` };
}
