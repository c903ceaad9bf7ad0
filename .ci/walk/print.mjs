// The printed lists as PDF.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, equal, step } from "./steps.mjs";
import { main, nameOf } from "./office.mjs";

// pages prints the current page and returns the text of each sheet.
async function pages(page, format, dir) {
  const path = join(dir, "print.pdf");
  writeFileSync(path, await page.pdf({ format, printBackground: false }));
  const sheets = execFileSync("pdftotext", ["-layout", path, "-"], { encoding: "utf8" }).split("\f");
  return sheets.slice(0, -1); // each sheet ends with a form feed
}

// lists checks printed lists of a large department.
export async function lists(browser, program, dir) {
  const people = await program.list();
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" }).format(new Date());
  for (const list of ["phone", "full"]) {
    for (const format of ["A4", "Letter"]) {
      await step(`print the ${list} list on ${format}`, async () => {
        const page = await browser.open(program, `/office/print?list=${list}`, { session: program.session, colorScheme: "dark" });
        const sheets = await pages(page, format, dir);
        const [top] = sheets;
        for (const wanted of ["default", day, `${people.length} people`])
          check(top.includes(wanted), `the first sheet lacks "${wanted}": ${top.slice(0, 400)}`);
        const all = sheets.join("\n");
        for (const word of ["Sign out", "Skip to content", "Deutsch"]) check(!all.includes(word), `the print contains "${word}"`);
        check(sheets.length > 1, `only ${sheets.length} sheets`);
        for (const [number, sheet] of sheets.entries()) {
          const numbers = new RegExp(`\\b${number + 1}\\b.{0,6}\\b${sheets.length}\\b`);
          check(numbers.test(sheet.trimEnd().split("\n").slice(-3).join("\n")), `sheet ${number + 1} of ${sheets.length} has no number: ${sheet.slice(-200)}`);
        }
        for (const person of people) {
          const on = sheets.filter((sheet) => sheet.includes(person.lastName));
          equal(all.split(person.lastName).length - 1, 1, `how many times ${person.lastName} is printed`);
          for (const value of [person.firstName, person.phoneNumber, ...(list === "full" ? [person.email] : [])]) {
            check(on[0].includes(value), `${value} of ${nameOf(person)} is on another sheet`);
          }
        }
        await blackOnWhite(page);
      });
    }
  }
}

// birthdays checks that the print has all months, also those that the page only links to.
export async function birthdays(browser, program, dir) {
  await step("print the birthdays of all months", async () => {
    const page = await browser.open(program, "/office/birthdays", { session: program.session });
    const all = (await pages(page, "A4", dir)).join("\n");
    for (const person of await program.list()) check(all.includes(person.lastName), `${person.lastName} is not printed`);
  });
}

// oneSheet checks that lists of 80 people fit on one sheet, also with empty columns.
export async function oneSheet(browser, program, dir) {
  const people = await program.list();
  for (const format of ["A4", "Letter"]) {
    await step(`${people.length} people on one sheet of ${format}`, async () => {
      for (const query of ["list=phone", "list=full", "list=phone&columns=present,boots+2027"]) {
        const page = await browser.open(program, `/office/print?size=one&${query}`, { session: program.session });
        const sheets = await pages(page, format, dir);
        equal(sheets.length, 1, `the number of sheets of ${query}`);
        for (const person of people) for (const value of [person.lastName, person.phoneNumber]) check(sheets[0].includes(value), `${value} of ${nameOf(person)} is missing`);
      }
    });
  }
}

// blackOnWhite checks the colours of a print from a dark browser.
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
