// The office page as a person finds it: by roles, labels and visible words.
import { execFileSync } from "node:child_process";
import { check, equal } from "./steps.mjs";

export const labels = {
  firstName: "First name", lastName: "Last name", phoneNumber: "Phone", email: "E-mail", dateOfBirth: "Date of birth",
};

// What else stands on buttons and links.
export const words = {
  add: /^add (a )?person$/i,
  save: /^(save$|add\b)/i,
  delete: /^delete\b/i,
  history: /^history\b/i,
  signIn: /^sign in\b/i,
  revoke: /^revoke\b/i,
  writes: /^(add|save|delete|undo|bring back|revoke|invite|withdraw)\b/i,
};

export const main = (page) => page.getByRole("main");
export const field = (page, name) => main(page).getByRole("textbox", { name: labels[name], exact: true });
export const saveButton = (page) => main(page).getByRole("button", { name: words.save });
export const searchField = (page) => page.getByRole("searchbox", { name: "Search", exact: true });
export const row = (page, text) => main(page).getByRole("row").filter({ hasText: text });
export const notice = (page) => page.getByRole("status").filter({ hasText: /was|is|were/ });
export const nameOf = (person) => `${person.firstName} ${person.lastName}`;

// scan returns what a camera reads in a QR code as it is shown.
export async function scan(code) {
  const input = await code.screenshot();
  return execFileSync("zbarimg", ["--nodbus", "--quiet", "--raw", "png:-"], { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] }).trim();
}

// fill types into the fields of the form of a person.
export async function fill(page, fields) {
  for (const [name, value] of Object.entries(fields)) await field(page, name).fill(value);
}

// values returns what stands in the form of a person.
export async function values(page, names = Object.keys(labels)) {
  const found = {};
  for (const name of names) found[name] = await field(page, name).inputValue();
  return found;
}

// counted waits until the page says how many people it shows.
export async function counted(page, text) {
  await page.getByRole("status").filter({ hasText: new RegExp(`^\\s*${text}\\s*$`) }).waitFor()
    .catch(() => { throw new Error(`the page does not say "${text}"`); });
}

// search looks for people as a person does: with the Enter key, or while typing
// where scripts run.
export async function search(page, text, scripts) {
  await searchField(page).fill("");
  await searchField(page).pressSequentially(text);
  if (!scripts) await searchField(page).press("Enter");
}

// people returns the cells of the list, a row each.
export async function people(page) {
  return main(page).getByRole("table").first().evaluate((table) =>
    [...table.tBodies[0].rows].map((line) => [...line.cells].map((cell) => cell.innerText.trim())));
}

// openPerson opens the page of a person from the list.
export async function openPerson(page, lastName) {
  await row(page, lastName).getByRole("link", { name: lastName }).first().click();
  await field(page, "lastName").waitFor();
}

// signIn types a key or a code.
export async function signIn(page, keyOrCode, { shared = false } = {}) {
  await page.getByLabel("Key or code", { exact: true }).fill(keyOrCode);
  if (shared) await page.getByLabel("This is a shared computer").check();
  await main(page).getByRole("button", { name: words.signIn }).click();
}

// signedIn signs in with the program's first key and returns the session.
export async function signedIn(browser, program, options = {}) {
  const page = await browser.open(program, "/office/sign-in", { scripts: false, ...options });
  await signIn(page, options.key ?? program.key);
  await page.waitForURL((url) => url.pathname === "/office/");
  return page.context().storageState();
}

// everything returns all that can be read or copied in the main part of a page.
export async function everything(page) {
  return main(page).evaluate((part) => [part.innerText, ...[...part.querySelectorAll("input, textarea")].map((input) => input.value),
    ...[...part.querySelectorAll("a")].map((link) => link.href)].join("\n"));
}

// invitation makes an invitation on the access page and returns its link and code.
export async function invitation(page, name, scope) {
  await page.goto("/office/access");
  const form = main(page).locator('form[action$="/office/access/invite"]');
  await form.getByRole("textbox", { name: /name/i }).fill(name);
  await form.locator("[name=scope]").selectOption(scope);
  await form.getByRole("button", { name: /invite|invitation/i }).click();
  await page.getByText(name).first().waitFor();
  const link = /https?:\/\/\S+\/office\/sign-in#code=[\w-]+/.exec(await everything(page))?.[0];
  check(link, `the page shows no link for ${name}`);
  return { link, code: link.split("#code=")[1] };
}

// atSignIn checks that the page asks to sign in.
export async function atSignIn(page) {
  await page.getByLabel("Key or code", { exact: true }).waitFor();
  equal(await main(page).getByRole("table").count(), 0, "tables at sign-in");
}
