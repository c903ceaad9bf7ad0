// Accessibility of every page: axe-core, narrow and magnified, dark, five languages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { check, equal, step } from "./steps.mjs";
import { field, fill, invitation, main, row, saveButton, words } from "./office.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const all = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"] };
const colours = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
const languages = { en: "English", de: "Deutsch", fr: "Français", es: "Español", hr: "Hrvatski" };

// addresses returns the names and addresses of pages.
async function addresses(station) {
  const [ana] = await station.list("covic");
  const other = (await station.list("")).find(({ id }) => id !== ana.id);
  return {
    "the list": "/office/", "a search": "/office/?search=walk&hasDateOfBirth=false", "no one found": "/office/?search=xyzzy",
    "a bad address": "/office/?page=minus", "e-mail addresses": "/office/emails", "a new person": "/office/people/new",
    "a person": `/office/people/${ana.id}`, "a person's history": `/office/people/${ana.id}/history`, history: "/office/history",
    "some of the history": "/office/history?person=covic&who=0&from=1.1.2026&to=x",
    duplicates: "/office/duplicates", "someone to merge": `/office/people/${ana.id}/merge`,
    "two records": `/office/people/${ana.id}/merge?with=${other.id}`,
    deleted: "/office/deleted", "the phone list": "/office/print?list=phone", "the full list": "/office/print?list=full",
    "a print with empty columns": "/office/print?columns=present,boots+2027,helmet,signature&size=one",
    "too many columns": "/office/print?list=full&columns=a,b,c,d,e", "a print of a search": "/office/print?search=walk",
    paper: "/office/paper", birthdays: "/office/birthdays", ages: "/office/birthdays?age=18&before=2030-01-01",
    import: "/office/import", missing: "/office/import/missing", imports: "/office/imports", export: "/office/export?search=walk", compare: "/office/compare",
    access: "/office/access", settings: "/office/settings", names: "/office/department", "sign-in": "/office/sign-in", "sign-out": "/office/sign-out", "signed out": "/office/sign-in?signedOut=1",
  };
}

// looks are the widths and colour schemes for axe-core. Light and dark differ only in colours, so all
// rules run once per width.
const looks = [[1280, "light", all], [1280, "dark", colours], [320, "dark", all], [320, "light", colours]];

// inspect checks the current page: axe-core in light and dark on a wide and a narrow screen, and no
// horizontal scrolling when narrow or magnified four times.
export async function inspect(page) {
  const faults = [];
  const before = page.viewportSize();
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(`${axe};0`);
  for (const [width, colorScheme, runOnly] of looks) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate((runOnly) =>
      window.axe.run(document, { runOnly, resultTypes: ["violations"], preload: false }), runOnly);
    for (const { id, help, nodes } of violations) {
      faults.push(`axe-core, ${width} px, ${colorScheme}: ${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}` +
        (id === "color-contrast" ? ` ${nodes[0].any[0]?.message ?? ""}` : ""));
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  for (const height of [800, 256]) {
    await page.setViewportSize({ width: 320, height });
    const wide = await sideways(page);
    if (wide) faults.push(`320 by ${height} px: ${wide}`);
  }
  await page.setViewportSize(before);
  check(faults.length === 0, `${new URL(page.url()).pathname}:\n${faults.join("\n")}`);
}

// sideways returns the elements that make a page scroll horizontally, or nothing.
function sideways(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.scrollingElement;
    if (scrollWidth <= clientWidth) return "";
    const wide = [...document.body.querySelectorAll("*")].filter((element) => element.getBoundingClientRect().right > clientWidth + 1 || element.scrollWidth > clientWidth);
    const widest = wide.slice(-2).map((element) => element.outerHTML.slice(0, 150)).join(" | ");
    return `it scrolls horizontally, ${scrollWidth} of ${clientWidth} px: ${widest}`;
  });
}

export async function accessibility(browser, station) {
  const pages = await addresses(station);
  const session = station.session;

  for (const [name, path] of Object.entries(pages)) {
    await step(`axe-core and width: ${name}`, async () => {
      const page = await browser.open(station, null, { session });
      await browser.expect(page, [200, 400], () => page.goto(path));
      await inspect(page);
    });
  }

  await step("axe-core and width: pages that answer a form", async () => {
    const page = await browser.open(station, "/office/people/new", { session });
    await fill(page, { firstName: "Ana", lastName: "Covic", email: "no" }); // an existing person
    await browser.expect(page, [400, 422], () => saveButton(page).click());
    await inspect(page);
    await browser.expect(page, 404, () => page.goto("/office/nothing"));
    await inspect(page);
    await invitation(page, "Axe", "read");
    await inspect(page);
    const person = await station.add({ firstName: "Axe", lastName: "Core", phoneNumber: "1" });
    await page.goto(`/office/people/${person.id}`);
    await station.change(person, { phoneNumber: "2" });
    await fill(page, { phoneNumber: "3", email: "axe@example.com" });
    await browser.expect(page, [409, 412], () => saveButton(page).click());
    await inspect(page);
    await page.goto("/office/?search=axe");
    await row(page, "Core").getByRole("checkbox").check();
    await inspect(page);
    await main(page).getByRole("button", { name: words.delete }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await inspect(page);
    const refused = await browser.open(station, "/office/sign-in");
    await refused.getByLabel("Key or code").fill("wrong");
    await browser.expect(refused, 403, () => main(refused).getByRole("button").click());
    await inspect(refused);
  });

  for (const [tag, language] of Object.entries(languages)) {
    await step(`every page in ${language}, 320 px wide`, async () => {
      const page = await browser.open(station, "/office/", { session, locale: tag, viewport: { width: 320, height: 640 } });
      const faults = [];
      for (const [name, path] of Object.entries(pages)) {
        await browser.expect(page, [200, 400], () => page.goto(path));
        equal(await page.evaluate(() => document.documentElement.lang), tag, `the language of ${name}`);
        const wide = await sideways(page);
        if (wide) faults.push(`${name}: ${wide}`);
      }
      check(faults.length === 0, faults.join("\n"));
    });
  }
}

// menu checks the menu on a phone.
export async function menu(browser, station) {
  await step("the menu, folded on a phone", async () => {
    const phone = await browser.open(station, "/office/", { session: station.session, viewport: { width: 390, height: 844 } });
    const links = phone.getByRole("navigation", { name: "Menu" }).getByRole("link");
    equal(await links.count(), 0, "links of the folded menu");
    check((await phone.getByRole("banner").boundingBox()).height <= 64, "the top of the page is more than one line");
    await phone.setViewportSize({ width: 320, height: 844 });
    const cut = await phone.locator(".brand span").evaluate((span) => {
      span.className = "long";
      span.textContent = "Freiwillige Feuerwehr der Verbandsgemeinde Untertürkheim-Obertürkheim-Neustadt";
      return span.scrollHeight > span.clientHeight + 1;
    });
    check(!cut, "a long department name is cut");
    await phone.locator("details").getByText("Menu", { exact: true }).click();
    check(await links.count() > 1 && await phone.getByRole("button", { name: "Sign out" }).isVisible(), "the menu does not unfold");
  });
}

// forced checks the page with the colours of the system.
export async function forced(browser, station) {
  await step("forced colours", async () => {
    const page = await browser.open(station, "/office/people/new", { session: station.session });
    await page.emulateMedia({ forcedColors: "active" });
    for (const element of [field(page, "firstName"), saveButton(page)]) {
      const border = await element.evaluate((found) => getComputedStyle(found).borderTopWidth);
      check(border !== "0px", "a field or a button has no border in forced colours");
    }
    await field(page, "firstName").focus();
    const outlined = await field(page, "firstName").evaluate((input) => getComputedStyle(input).outlineStyle !== "none");
    check(outlined, "the focus is not visible in forced colours");
    check((await page.screenshot()).length > 5000, "the page is blank");
  });
}

// docs checks the page with the documentation of the API, and sends a request from it.
export async function docs(browser, program) {
  await step("the API documentation at /docs", async () => {
    const page = await browser.open(program, "/docs");
    await page.getByRole("button", { name: "Authorize" }).first().click();
    await page.locator(".auth-container input").fill(program.key);
    await page.locator(".auth-container button[type=submit]").click();
    await page.locator(".btn-done").click();
    await page.locator("#operations-Exchange-listChanges .opblock-summary-control").click();
    const answer = page.waitForResponse((response) => response.url().startsWith(`${program.url}/api/v1/changes`));
    await page.locator("#operations-Exchange-listChanges button.execute").click();
    equal((await answer).status(), 200, "the status of the request");
    const kept = await page.evaluate(() => [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join());
    check(!kept.includes(program.key), `the page stores the key: ${kept}`);
  });
}
