// The main tasks with the keyboard only, with a visible focus at all times.
import { check, equal, step } from "./steps.mjs";
import { counted, field, main, notice, row, saveButton, searchField, words } from "./office.mjs";

// tabTo presses Tab until an element has the focus. Every element on the way must show its focus.
async function tabTo(page, element) {
  for (let pressed = 0; pressed < 80; pressed++) {
    if (await element.evaluate((found) => found === document.activeElement)) return;
    await page.keyboard.press("Tab");
    const fault = await page.evaluate(hidden);
    check(!fault, `the focus is not visible: ${fault}`);
  }
  throw new Error(`${element} cannot be reached with the keyboard`);
}

// hidden runs in the page. It returns the focused element if its focus is not visible.
function hidden() {
  const element = document.activeElement;
  if (element === document.body) return ""; // at the end of the page
  const style = getComputedStyle(element), box = element.getBoundingClientRect();
  const marked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 || style.boxShadow !== "none";
  const inSight = box.width > 4 && box.height > 4 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const top = inSight && document.elementFromPoint(Math.max(0, box.left) + Math.min(box.width, innerWidth) / 2, Math.min(innerHeight - 1, Math.max(0, (box.top + box.bottom) / 2)));
  const covered = top && !element.contains(top) && !top.contains(element);
  if (marked && inSight && !covered) return "";
  return `${element.outerHTML.slice(0, 150)} (marked: ${marked}, in view: ${inSight}, covered: ${Boolean(covered)})`;
}

export async function tasks(browser, station) {
  await step("keyboard only: sign in, skip, search", async () => {
    const page = await browser.open(station, "/office/");
    await tabTo(page, page.getByLabel("Key or code", { exact: true }));
    await page.keyboard.insertText(station.key);
    await page.keyboard.press("Enter");
    await page.waitForURL("/office/");
    await page.keyboard.press("Tab");
    const skip = await page.evaluate(() => [document.activeElement.tagName, document.activeElement.getAttribute("href")]);
    equal(skip, ["A", "#main"], "the first element that Tab reaches");
    check(!await page.evaluate(hidden), "the skip link is not visible");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    check(await main(page).evaluate((part) => part.contains(document.activeElement)), "the skip link does not move to the main part");
    await page.goto("/office/");
    await tabTo(page, searchField(page));
    await page.keyboard.type("covic");
    await counted(page, "1 of \\d+ people");
  });

  await step("keyboard only: add, edit, delete, undo", async () => {
    const last = "Keyboard";
    const page = await browser.open(station, "/office/", { session: station.session });
    await tabTo(page, main(page).getByRole("link", { name: words.add }));
    await page.keyboard.press("Enter");
    await field(page, "firstName").waitFor();
    await tabTo(page, field(page, "firstName"));
    await page.keyboard.type("Task");
    await tabTo(page, field(page, "lastName"));
    await page.keyboard.type(last);
    await tabTo(page, saveButton(page));
    await page.keyboard.press("Space");
    await notice(page).filter({ hasText: last }).waitFor();
    await page.goto(`/office/?search=${last}`);
    await tabTo(page, row(page, last).getByRole("link").first());
    await page.keyboard.press("Enter");
    await field(page, "phoneNumber").waitFor();
    await tabTo(page, field(page, "phoneNumber"));
    await page.keyboard.type("091 600");
    await page.keyboard.press("Enter");
    await notice(page).filter({ hasText: last }).waitFor();
    await page.evaluate(() => { window.still = true; });
    await tabTo(page, row(page, last).getByRole("checkbox"));
    await page.keyboard.press("Space");
    await tabTo(page, main(page).getByRole("button", { name: words.delete }));
    await page.keyboard.press("Space");
    await notice(page).filter({ hasText: last }).waitFor();
    await tabTo(page, page.getByRole("button", { name: "Undo" }));
    await page.keyboard.press("Enter");
    await row(page, last).waitFor();
    check(await page.evaluate(() => window.still), "delete or undo reloaded the page");
    equal((await station.list(last)).map(({ phoneNumber }) => phoneNumber), ["091 600"], "the phone");
  });

  await step("keyboard only: every element of the list and of a person", async () => {
    const [ana] = await station.list("covic");
    for (const path of ["/office/?search=covic", `/office/people/${ana.id}`, "/office/access"]) {
      const page = await browser.open(station, path, { session: station.session });
      const reachable = await page.locator("a[href]:visible, button:visible, input:visible, select:visible, textarea:visible").count();
      const reached = new Set();
      for (let pressed = 0; pressed < reachable + 5; pressed++) {
        await page.keyboard.press("Tab");
        const fault = await page.evaluate(hidden);
        check(!fault, `the focus is not visible: ${fault}`);
        reached.add(await page.evaluate(() => [...document.querySelectorAll("*")].indexOf(document.activeElement)));
      }
      const radios = await page.locator("input[type=radio]:visible").count();
      check(reached.size - 1 >= reachable - radios, `${path}: ${reached.size - 1} of ${reachable} elements can be reached`);
    }
  });

  await step("the keys / and n and ?", async () => {
    const page = await browser.open(station, "/office/history", { session: station.session });
    await page.keyboard.press("/");
    await page.waitForURL("/office/#search-text");
    check(await searchField(page).evaluate((found) => found === document.activeElement), "/ does not focus the search");
    await page.keyboard.type("n/?");
    equal(await searchField(page).inputValue(), "n/?", "the typed text");
    await page.goto("/office/?search=covic");
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keyboard" });
    equal(await dialog.locator("kbd").allInnerTexts(), ["/", "n", "?"], "the keys");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.keyboard.press("n");
    await field(page, "firstName").waitFor();
  });
}
