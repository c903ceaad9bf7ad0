// Paper: the lists as PDF, the code on them, birthdays and their calendar.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, equal, step } from "./steps.mjs";
import { main, nameOf } from "./office.mjs";
import { bring } from "./transfer.mjs";

// pages prints the page that is shown and returns the text of each sheet: line by
// line as it is laid out, or column by column.
async function pages(page, format, dir, order = ["-layout"]) {
  const path = join(dir, "print.pdf");
  writeFileSync(path, await page.pdf({ format, printBackground: false }));
  const info = execFileSync("pdfinfo", [path], { encoding: "utf8" });
  const [width, height] = /Page size: +([\d.]+) x ([\d.]+)/.exec(info).slice(1).map(Number);
  const [wantWidth, wantHeight] = format === "A4" ? [595, 842] : [612, 792];
  check(Math.abs(width - wantWidth) < 2 && Math.abs(height - wantHeight) < 2, `the size of ${format} is ${width} by ${height} points`);
  const sheets = execFileSync("pdftotext", [...order, path, "-"], { encoding: "utf8" }).split("\f");
  return sheets.slice(0, -1); // each sheet ends with a form feed
}

// codeOn returns the code that stands in the text of a print.
function codeOn(text) {
  const code = /[Cc]ode\W+(?:\w+\W+){0,4}?([0-9A-Z]{3}[- ]?[0-9A-Z]{3})\b/.exec(text)?.[1];
  check(code, `there is no code of six characters in: ${text.slice(0, 500)}`);
  return code;
}

const navigation = ["Sign out", "Birthdays", "History", "Skip to content", "Access", "Deutsch", "Copy", "Undo"];

// lists are printed for a department of many people.
export async function lists(browser, program, dir) {
  const people = await program.list();
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" }).format(new Date());
  for (const list of ["phone", "full"]) {
    for (const format of ["A4", "Letter"]) {
      await step(`print the ${list} list on ${format}`, async () => {
        const page = await browser.open(program, `/office/print?list=${list}`, { session: program.session, colorScheme: "dark" });
        const sheets = await pages(page, format, dir);
        const [top] = sheets;
        for (const wanted of ["default", day, `${people.length} people`]) check(top.includes(wanted), `"${wanted}" is not on the first sheet: ${top.slice(0, 400)}`);
        codeOn(sheets.join("\n"));
        const all = sheets.join("\n");
        for (const word of navigation) check(!all.includes(word), `"${word}" is printed`);
        check(sheets.length > 2, `only ${sheets.length} sheets`);
        for (const [number, sheet] of sheets.entries()) {
          const numbers = new RegExp(`\\b${number + 1}\\b.{0,6}\\b${sheets.length}\\b`);
          check(numbers.test(sheet.trimEnd().split("\n").slice(-3).join("\n")), `sheet ${number + 1} of ${sheets.length} has no number: ${sheet.slice(-200)}`);
        }
        for (const person of people) {
          const on = sheets.filter((sheet) => sheet.includes(person.lastName));
          equal(all.split(person.lastName).length - 1, 1, `how often ${person.lastName} is printed`);
          for (const value of [person.firstName, person.phoneNumber, ...(list === "full" ? [person.email] : [])]) {
            check(on[0].includes(value), `${value} of ${nameOf(person)} is on another sheet`);
          }
        }
        await blackOnWhite(page);
      });
    }
  }
}

// oneSheet prints lists of 80 people on one sheet, with empty columns too.
export async function oneSheet(browser, program, dir) {
  const people = await program.list();
  for (const format of ["A4", "Letter"]) {
    await step(`${people.length} people on one sheet of ${format}`, async () => {
      const page = await browser.open(program, "/office/print", { session: program.session });
      await main(page).getByRole("checkbox", { name: "All on one sheet" }).check();
      await main(page).getByRole("textbox", { name: "Empty columns" }).press("Enter");
      await page.waitForURL(/size=one/);
      const all = async () => {
        const sheets = await pages(page, format, dir);
        equal(sheets.length, 1, "the number of sheets");
        for (const person of people) for (const value of [person.lastName, person.phoneNumber]) check(sheets[0].includes(value), `${value} of ${nameOf(person)} is missing`);
        return sheets[0];
      };
      codeOn(await all());
      await main(page).getByRole("link", { name: "Full list" }).click();
      await page.waitForURL(/list=full/);
      await all();
      await main(page).getByRole("link", { name: "Phone list" }).click();
      await page.waitForURL(/list=phone/);
      await main(page).getByRole("textbox", { name: "Empty columns" }).fill("present, boots 2027");
      await main(page).getByRole("button", { name: "Show" }).click();
      await page.waitForURL(/boots/);
      await main(page).getByRole("columnheader", { name: "boots 2027" }).waitFor();
      await all();
    });
  }
}

// comparison prints a list of others beside that of a department of many people.
export async function comparison(browser, program, dir) {
  await step("print a comparison", async () => {
    const page = await browser.open(program, "/office/compare", { session: program.session, colorScheme: "dark" });
    const [first, ...others] = await program.list();
    const list = `First name,Last name,Phone\n${nameOf(first).replace(" ", ",")},091 999\nOtto,Other,1\nIva,,2\n`;
    await bring(page, { name: "insurer.csv", mimeType: "text/csv", buffer: Buffer.from(list) }, "Compare");
    const sheets = await pages(page, "A4", dir);
    const all = sheets.join("\n");
    for (const wanted of ["default", "insurer.csv", `${others.length} people are only on our list`, "Otto", "091 999", first.phoneNumber, "The last name is missing"]) {
      check(all.includes(wanted), `"${wanted}" is not printed: ${all.slice(0, 800)}`);
    }
    for (const person of others) equal(all.split(person.lastName).length - 1, 1, `how often ${person.lastName} is printed`);
    for (const word of [...navigation, "Compare again", "How the list is read"]) check(!all.includes(word), `"${word}" is printed`);
    await blackOnWhite(page);
  });
}

// names prints names that are payloads. What has no font is not compared.
export async function names(browser, program, dir, payloads) {
  for (const list of ["phone", "full"]) {
    await step(`print the ${list} list with names that are payloads`, async () => {
      const page = await browser.open(program, `/office/print?list=${list}`, { session: program.session });
      const all = (await pages(page, "A4", dir, [])).join("\n").replace(/\s+/g, "");
      const left = await program.list();
      for (const name of payloads.filter((text) => /^[ -~]+$/.test(text) && left.some((person) => person.firstName === text))) {
        for (const word of name.split(/\s+/)) check(all.includes(word), `${word} of ${name} is not printed: ${all}`); // lines break between words
      }
    });
  }
}

// blackOnWhite checks the colours of the print in a dark browser.
async function blackOnWhite(page) {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const [text, back] = await main(page).getByRole("cell").first().evaluate((cell) => {
    const light = (color) => (color.match(/[\d.]+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
    let found = cell;
    const clear = (element) => /, 0\)$|transparent/.test(getComputedStyle(element).backgroundColor);
    while (found && clear(found)) found = found.parentElement;
    return [light(getComputedStyle(cell).color), found ? light(getComputedStyle(found).backgroundColor) : 765];
  });
  check(text < 200 && back > 750, `the text has lightness ${text} on ${back} of 765`);
}

// paper is the code on a print, typed in after changes.
export async function paper(browser, station, dir, scripts) {
  const how = scripts ? "" : ", no scripts";
  const round = scripts ? "One" : "Two";
  await step(`the code on a print tells what has changed${how}`, async () => {
    const left = await station.add({ firstName: "Paper", lastName: `Left${round}` });
    const changed = await station.add({ firstName: "Paper", lastName: `Changed${round}`, phoneNumber: "091 900" });
    const page = await browser.open(station, "/office/print?list=phone", { session: station.session, scripts });
    const code = codeOn(await main(page).innerText());
    const typed = async (text) => {
      await page.goto("/office/");
      await page.getByRole("navigation").getByRole("link", { name: "Lists", exact: true }).click();
      await page.getByRole("navigation").getByRole("link", { name: "Check a printed list" }).click();
      await page.getByRole("heading", { name: "Check a printed list" }).waitFor();
      await main(page).getByRole("textbox", { name: /code/i }).fill(text);
      await main(page).getByRole("textbox", { name: /code/i }).press("Enter");
      await page.waitForURL(/code=/);
      return main(page).innerText();
    };
    const before = await typed(code);
    check(!before.includes("Paper"), `nothing has changed yet, and the page says: ${before}`);
    await station.add({ firstName: "Paper", lastName: `Joined${round}` });
    await station.remove(left.id);
    await station.change(changed, { phoneNumber: "091 901" });
    const text = await typed(code.toLowerCase().replace(/\W/g, ""));
    for (const wanted of [`Joined${round}`, `Left${round}`, `Changed${round}`, "091 900", "091 901"]) check(text.includes(wanted), `"${wanted}" is missing: ${text}`);
    check(!text.includes("Čović"), "somebody is named who did not change");
    const sheets = await pages(page, "A4", dir);
    for (const wanted of [`Joined${round}`, `Left${round}`, "091 901"]) check(sheets[0].includes(wanted), `"${wanted}" is not on the slip: ${sheets[0]}`);
    for (const word of navigation) check(!sheets[0].includes(word), `"${word}" is printed`);
    for (const wrong of ["AAAAAA", "?"]) {
      await page.goto("/office/paper");
      await main(page).getByRole("textbox", { name: /code/i }).fill(wrong);
      await browser.expect(page, [200, 400, 404, 410, 422], () => main(page).getByRole("textbox", { name: /code/i }).press("Enter"));
      const said = await main(page).innerText();
      check(!said.includes("Paper ") && await main(page).getByRole("textbox", { name: /code/i }).inputValue() === wrong, `the answer to ${wrong}: ${said}`);
    }
  });
}

export async function birthdays(browser, station, dir) {
  const year = new Date().getFullYear() + 2; // in which two people reach an age, on 1 June
  await step("birthdays by month, and who reaches an age", async () => {
    await station.add({ firstName: "Birth", lastName: "Eighteen", dateOfBirth: `${year - 18}-06-01` });
    await station.add({ firstName: "Birth", lastName: "Sixty", dateOfBirth: `${year - 60}-06-01` });
    const page = await browser.open(station, "/office/birthdays", { session: station.session });
    const month = main(page).locator("section").filter({ has: page.getByRole("heading", { name: "May" }) });
    check((await month.innerText()).includes("Čović"), "Ana Čović, born 15 May 1990, is not in May");
    equal((await pages(page, "A4", dir)).join("").includes("Čović"), true, "whether birthdays are printed");
    await main(page).getByRole("textbox", { name: "Age" }).fill("18");
    await main(page).getByRole("textbox", { name: "Before" }).fill(`2 June ${year}`);
    await main(page).getByRole("textbox", { name: "Before" }).press("Enter");
    await page.waitForURL(/age=18/);
    const table = main(page).getByRole("table").filter({ has: page.getByRole("columnheader", { name: /reach/i }) });
    const reaching = (text) => table.getByRole("row").filter({ hasText: text }).count();
    equal([await reaching("Eighteen"), await reaching("Sixty")], [1, 0], `who reaches 18 before 2 June ${year}`);
    const [sheet] = await pages(page, "A4", dir);
    check(sheet.includes("Eighteen"), `they are not printed: ${sheet}`);
    await page.goto(`/office/birthdays?age=18&before=${year}-06-01`);
    equal(await reaching("Eighteen"), 0, "people who reach 18 on the day itself");
    await page.goto(`/office/birthdays?age=60&before=${year}-06-02`);
    equal(await reaching("Sixty"), 1, `who reaches 60 before 2 June ${year}`);
  });

  await step("the calendar of birthdays", async () => {
    const page = await browser.open(station, "/office/birthdays", { session: station.session });
    const [download] = await Promise.all([page.waitForEvent("download"), main(page).locator("a[href*='birthdays.ics']").first().click()]);
    check(download.suggestedFilename().endsWith(".ics"), `the file is called ${download.suggestedFilename()}`);
  });
}
