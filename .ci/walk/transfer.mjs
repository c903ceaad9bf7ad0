// Lists: selecting, dropping and pasting a list, and the pages that show one.
import { check, equal, step, until } from "./steps.mjs";
import { main, notice, row } from "./office.mjs";
import { inspect } from "./pages.mjs";

const button = (page, name) => main(page).getByRole("button", { name });
const file = (name, text) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

// bring uploads a list and waits for the preview.
export async function bring(page, list, action = "Check the list") {
  await page.getByLabel("File", { exact: true }).setInputFiles(list);
  await button(page, action).click();
  await page.locator("#reading").waitFor();
  await page.waitForLoadState(); // a long page arrives in parts
}

export async function tasks(browser, station) {
  const open = (path) => browser.open(station, path, { session: station.session });

  await step("import a list, correct a cell, undo the import", async () => {
    const page = await open("/office/import");
    await bring(page, file("spring.csv", "Vorname;Nachname;E-Mail\nIva;Import;iva@\nLuka;Import;\n"));
    await page.getByRole("textbox", { name: /E-Mail/ }).fill("iva@example.com");
    await page.keyboard.press("Enter");
    await button(page, "Import 2 people").click();
    await row(page, "Import").first().waitFor();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await notice(page).filter({ hasText: "was undone" }).waitFor();
    equal((await station.list("Import")).length, 0, "the number of people after undo");
  });

  const send = (page, type, target, name) => page.evaluate(([type, target, name]) => {
    const data = new DataTransfer();
    if (name) data.items.add(new File(["First name;Last name\nIva;Dropped\n"], name, { type: "text/csv" }));
    else data.setData("text/plain", "First name\tLast name\nIva\tPasted\n");
    const make = type === "paste" ? (options) => new ClipboardEvent(type, { clipboardData: data, ...options }) : (options) => new DragEvent(type, { dataTransfer: data, ...options });
    document.querySelector(target).dispatchEvent(make({ bubbles: true, cancelable: true }));
  }, [type, target, name]);

  await step("drop a file on the page", async () => {
    const page = await open("/office/import");
    await send(page, "dragover", "h1", "dropped.csv");
    await send(page, "drop", "h1", "dropped.csv");
    await button(page, "Check the list").click();
    await main(page).getByRole("heading", { name: "dropped.csv" }).waitFor();
  });

  await step("paste rows of a spreadsheet, and a file", async () => {
    const page = await open("/office/import");
    await send(page, "paste", "body");
    check((await page.getByLabel("Or paste rows").inputValue()).includes("Pasted"), "the rows are not in the field");
    check(await button(page, "Check the list").evaluate((element) => element === document.activeElement), "the button does not have the focus");
    await send(page, "paste", "textarea", "pasted.csv");
    await until("the file is chosen", () => page.locator("#file").evaluate((input) => input.files.length === 1));
  });
}

// accessibility checks the pages that show a list, in addition to the pages with an address in pages.mjs.
export async function accessibility(browser, station) {
  const lists = {
    "questions": `First name;Last name;Phone;E-mail;Birthday\nAna;Horvat;0911 2;ana@example.com;15.05.1990\nAna;Covicz;911 234;;15.05.1990\nIva;Axe;;no;--05-15\n${"Mia;Twice;1;;\n".repeat(2)}`,
    "people and refused rows": `First name;Last name;Phone;E-mail;Birthday;Rank\nAna;Čović;091 999;;15.05.1990;HBM\n${"Iva;Longlastname;;no;;\n".repeat(3)}Mia;New;;mia@example.com;;\n;;091 5;;no;\n\u200b;\u200b;;no;;\n`,
    "names in one column": "Name\n\"Kos, Eva\"\n\"Kos, Mia\"\nSteiner Maria\n",
  };
  for (const [name, list] of Object.entries(lists)) {
    await step(`axe-core and width: a list with ${name}`, async () => {
      for (const [path, action] of [["/office/import", "Check the list"], ["/office/compare", "Compare"]]) {
        const page = await browser.open(station, path, { session: station.session });
        await bring(page, file("a list with quite a long name.csv", list), action);
        await inspect(page);
      }
    });
  }
}
