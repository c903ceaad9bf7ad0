// Every page for everybody: axe-core, narrow and magnified, dark, five languages.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { check, equal, step } from "./steps.mjs";
import { counted, field, fill, invitation, main, row, saveButton, words } from "./office.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const all = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"] };
const colours = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
const languages = { en: "English", de: "Deutsch", fr: "Français", es: "Español", hr: "Hrvatski" };

// addresses returns the pages that can be reached by an address, by their names.
async function addresses(station) {
  const [ana] = await station.list("covic");
  return {
    "the list": "/office/", "a search": "/office/?search=walk", "nobody found": "/office/?search=xyzzy",
    "a bad address": "/office/?page=minus", "e-mail addresses": "/office/emails", "a new person": "/office/people/new",
    "a person": `/office/people/${ana.id}`, "a person's history": `/office/people/${ana.id}/history`, history: "/office/history",
    "some of the history": "/office/history?person=covic&who=0&from=1.1.2026&to=x",
    deleted: "/office/deleted", "the phone list": "/office/print?list=phone", "the full list": "/office/print?list=full",
    "a print with empty columns": "/office/print?columns=present,boots+2027,helmet,signature&size=one", "too many columns": "/office/print?list=full&columns=a,b,c,d,e",
    paper: "/office/paper", birthdays: "/office/birthdays", ages: "/office/birthdays?age=18&before=2030-01-01",
    import: "/office/import", imports: "/office/imports", export: "/office/export?search=walk", compare: "/office/compare",
    access: "/office/access", names: "/office/department", "sign-in": "/office/sign-in", "sign-out": "/office/sign-out", "signed out": "/office/sign-in?signedOut=1",
  };
}

// looks are those in which axe-core sees each page. Light and dark differ in
// colours alone, so all rules are asked once for each width.
const looks = [[1280, "light", all], [1280, "dark", colours], [320, "dark", all], [320, "light", colours]];

// inspect checks the page that is shown: axe-core, light and dark, on a wide and a
// narrow screen; no scrolling sideways, narrow and magnified four times.
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

// sideways returns what makes a page scroll sideways, or nothing.
function sideways(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.scrollingElement;
    if (scrollWidth <= clientWidth) return "";
    const right = (element) => { // of the element's text, which may stand out of its box
      const range = document.createRange();
      range.selectNodeContents(element);
      return Math.max(element.getBoundingClientRect().right, range.getBoundingClientRect().right);
    };
    const wide = [...document.body.querySelectorAll("*")].filter((element) => right(element) > clientWidth + 1 || element.scrollWidth > clientWidth);
    return `it scrolls sideways, ${scrollWidth} of ${clientWidth} px: ${wide.slice(-2).map((element) => element.outerHTML.slice(0, 150)).join(" | ")}`;
  });
}

export async function everybody(browser, station) {
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
    await fill(page, { firstName: "Ana", lastName: "Covic", email: "no" }); // who is there already
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
    await row(page, "Core").getByRole("button", { name: words.delete }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await inspect(page);
    const refused = await browser.open(station, "/office/sign-in");
    await refused.getByLabel("Key or code").fill("wrong");
    await browser.expect(refused, 403, () => main(refused).getByRole("button").click());
    await inspect(refused);
  });

  const keys = new Set(readdirSync(station.messages).flatMap((file) => Object.keys(JSON.parse(readFileSync(join(station.messages, file), "utf8")))));
  for (const [tag, language] of Object.entries(languages)) {
    await step(`every page in ${language}, 320 px wide`, async () => {
      const page = await browser.open(station, "/office/", { session, locale: tag, viewport: { width: 320, height: 640 } });
      const faults = [];
      for (const [name, path] of Object.entries(pages)) {
        await browser.expect(page, [200, 400], () => page.goto(path));
        const [text, lang] = await page.evaluate(() => [document.title + "\n" + document.body.innerText +
          [...document.querySelectorAll("[aria-label], [title], [placeholder], [alt], [data-text], [data-done]")].map((element) =>
            ["aria-label", "title", "placeholder", "alt", "data-text", "data-done"].map((key) => element.getAttribute(key) ?? "").join("\n")).join("\n"),
          document.documentElement.lang]);
        if (lang !== tag) faults.push(`${name}: lang is ${lang}`);
        for (const token of text.match(/[a-z]+(\.[a-zA-Z]+)+/g) ?? []) if (keys.has(token)) faults.push(`${name}: the key ${token}`);
        for (const token of text.match(/\{\d\}|%!\S*|<no value>|\bundefined\b|\bNaN\b/g) ?? []) faults.push(`${name}: ${token}`);
        const wide = await sideways(page);
        if (wide) faults.push(`${name}: ${wide}`);
      }
      check(faults.length === 0, faults.join("\n"));
    });
  }

  await step("words of buttons, headers and e-mail addresses stay whole", async () => {
    for (const locale of Object.keys(languages)) {
      const page = await browser.open(station, null, { session, locale });
      for (const [path, width] of [["/office/", 1280], ["/office/", 1000], ["/office/", 320], ["/office/access", 1100], ["/office/access", 320], ["/office/deleted", 1000],
        ["/office/imports", 1000], ["/office/imports", 320], ["/office/import", 320], ["/office/compare", 320]]) {
        await page.setViewportSize({ width, height: 800 });
        await page.goto(path);
        equal(await page.evaluate(brokenWords), [], `broken words of ${path} at ${width} px in ${locale}`);
      }
    }
  });
}

// brokenWords runs in the page. It returns words that stand on two lines.
function brokenWords() {
  const broken = [];
  for (const element of document.querySelectorAll("button, .button, nav a, thead th, td.email a")) {
    const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      if (walk.currentNode.parentElement.closest(".unseen")) continue;
      for (const { index, 0: word } of walk.currentNode.textContent.matchAll(/[^\s-]+/g)) {
        const range = new Range();
        range.setStart(walk.currentNode, index);
        range.setEnd(walk.currentNode, index + word.length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word);
      }
    }
  }
  return broken;
}

// columns stand in line, however long the texts are.
export async function columns(browser, station) {
  await step("columns of the history stand in line, and a phone shows long names", async () => {
    const person = await station.add({ firstName: "María de los Ángeles", lastName: "Donaudampfschifffahrt", phoneNumber: "1" });
    await station.change(person, { email: "somebody.with.a.long.address@fire-brigade.example.com" });
    await station.change(person, { phoneNumber: "2" });
    for (const width of [1280, 390]) {
      const page = await browser.open(station, `/office/people/${person.id}/history`, { session: station.session, viewport: { width, height: 844 } });
      const lefts = await page.locator(".diff tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].slice(1).map((cell) => Math.round(cell.getBoundingClientRect().left))));
      check(lefts.length >= 5, `the history has ${lefts.length} lines`);
      for (const number of [0, 1]) equal(new Set(lefts.map((row) => row[number]).filter((left) => left !== undefined)).size, 1, `places of column ${number + 1} at ${width} px`);
    }
    const phone = await browser.open(station, "/office/?search=donau", { session: station.session, viewport: { width: 390, height: 844 } });
    const cut = await row(phone, "Donaudampfschifffahrt").locator(".first, .last").evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth || cell.scrollHeight > cell.clientHeight + 1).map((cell) => cell.textContent));
    equal(cut, [], "names that are cut off");
    await station.remove(person.id);
  });
}

// menu is the menu, on a wide screen and on a phone.
export async function menu(browser, station) {
  const entries = ["People", "Birthdays", "Print", "Lists", "History", "Access"];
  await step("the menu, on a wide screen and folded on a phone", async () => {
    const wide = await browser.open(station, "/office/", { session: station.session });
    const links = (page) => page.getByRole("navigation", { name: "Menu" }).getByRole("link");
    equal(await links(wide).allInnerTexts(), entries, "the menu on a wide screen");
    const phone = await browser.open(station, "/office/", { session: station.session, viewport: { width: 390, height: 844 } });
    equal(await links(phone).count(), 0, "links of the folded menu");
    check((await phone.getByRole("banner").boundingBox()).height <= 64, "the top of the page is no line");
    await phone.locator("details").getByText("Menu", { exact: true }).click();
    equal(await links(phone).allInnerTexts(), entries, "the menu on a phone");
    check(await phone.getByRole("button", { name: "Sign out" }).isVisible(), "nobody can sign out on a phone");
  });
}

// manners are what all pages keep on the wire.
export async function manners(browser, station, demo) {
  await step("the first page costs at most 40 KB, everything included", async () => {
    const page = await browser.open(demo, null, { session: demo.session });
    const client = await page.context().newCDPSession(page);
    await client.send("Network.enable");
    let bytes = 0;
    const urls = new Set();
    client.on("Network.responseReceived", ({ response }) => urls.add(response.url));
    client.on("Network.loadingFinished", ({ encodedDataLength }) => { bytes += encodedDataLength; });
    await page.goto("/office/", { waitUntil: "networkidle" });
    await counted(page, "40 people");
    const icons = await page.locator("link[rel~=icon]").evaluateAll((links) => links.map((link) => link.href));
    for (const icon of icons.filter((url) => !urls.has(url))) bytes += Number((await fetch(icon)).headers.get("content-length"));
    check(bytes > 1000 && bytes <= 40000, `${bytes} bytes`);
    console.log(`              ${bytes} bytes in ${urls.size} answers`);
  });

  await step("forced colours", async () => {
    const page = await browser.open(station, "/office/people/new", { session: station.session });
    await page.emulateMedia({ forcedColors: "active" });
    for (const element of [field(page, "firstName"), saveButton(page)]) {
      const border = await element.evaluate((found) => getComputedStyle(found).borderTopWidth);
      check(border !== "0px", "a field or a button has no border in forced colours");
    }
    await field(page, "firstName").focus();
    check(await field(page, "firstName").evaluate((input) => getComputedStyle(input).outlineStyle !== "none"), "the focus does not show in forced colours");
    check((await page.screenshot()).length > 5000, "the page is blank");
  });
}

// names are those that would act if they were not shown as text.
export async function names(browser, program) {
  const payloads = ["<img src=x onerror=alert(1)>", "\"><script>alert(1)</script>", "\u202Eevil\u202Dtxt", "漢".repeat(100), "👩‍🚒🔥", "' onmouseover='alert(1)"];
  await step("names that are payloads do nothing, need no scrolling sideways and turn nothing but themselves", async () => {
    for (const [number, name] of payloads.entries()) await program.add({ firstName: name, lastName: `Payload${number}`, phoneNumber: "\"><b>1", dateOfBirth: "1990-05-15" });
    const page = await browser.open(program, null, { session: program.session });
    for (const path of ["/office/", "/office/history", "/office/print?list=full", "/office/birthdays"]) {
      await page.goto(path);
      equal(await page.locator("script:not([src]), img[src=x], [onerror], [onmouseover], td b").count(), 0, `elements made of names on ${path}`);
      equal(await page.evaluate(besidesTurned), [], `texts that a name turns on ${path}`);
      await page.setViewportSize({ width: 320, height: 640 });
      equal(await sideways(page), "", `how ${path} scrolls`);
    }
  });
}

// besidesTurned runs in the page. It returns texts in which a name that turns the
// direction of text has other words beside it and is not isolated from them.
function besidesTurned() {
  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent;
    if (!text.includes("\u202E") || /[\u2066-\u2068][^\u2069]*\u202E/.test(text)) continue;
    let around = walk.currentNode.parentElement; // up to where the direction of text ends
    while (getComputedStyle(around).display === "inline" && !/isolate|plaintext/.test(getComputedStyle(around).unicodeBidi)) around = around.parentElement;
    const beside = around.textContent.replace("\u202Eevil\u202Dtxt", "").replace(/Payload\d/, "").trim();
    if (beside !== "") texts.push(around.outerHTML.slice(0, 200));
  }
  return texts;
}

// docs is the page that shows the document of the API, and tries it.
export async function docs(browser, program) {
  await step("the API is read and tried at /docs", async () => {
    const page = await browser.open(program, "/docs");
    await page.getByRole("button", { name: "Authorize" }).first().click();
    await page.locator(".auth-container input").fill(program.key);
    await page.locator(".auth-container button[type=submit]").click();
    await page.locator(".btn-done").click();
    await page.locator("#operations-Exchange-listChanges .opblock-summary-control").click();
    const answer = page.waitForResponse((response) => response.url().startsWith(`${program.url}/api/v1/changes`));
    await page.locator("#operations-Exchange-listChanges button.execute").click();
    equal((await answer).status(), 200, "the status of the request that was tried");
    const kept = await page.evaluate(() => [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join());
    check(!kept.includes(program.key), `the page keeps the key: ${kept}`);
  });
}
