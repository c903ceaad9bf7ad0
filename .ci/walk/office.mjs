// The office page by roles, labels and visible words.
import { execFileSync } from "node:child_process";
import { equal } from "./steps.mjs";

const labels = {
  firstName: "First name", lastName: "Last name", phoneNumber: "Phone", email: "E-mail", dateOfBirth: "Date of birth",
};

// Texts on other buttons and links.
export const words = {
  add: /^add (a )?person$/i,
  save: /^(save$|add\b)/i,
  delete: /^delete\b/i,
  history: /^history\b/i,
  signIn: /^sign in\b/i,
};

export const main = (page) => page.getByRole("main");
export const field = (page, name) => main(page).getByRole("textbox", { name: labels[name], exact: true });
export const saveButton = (page) => main(page).getByRole("button", { name: words.save });
export const searchField = (page) => page.getByRole("searchbox", { name: "Search", exact: true });
export const row = (page, text) => main(page).getByRole("row").filter({ hasText: text });
export const notice = (page) => page.getByRole("status").filter({ hasText: /was|is|were/ });
export const nameOf = (person) => `${person.firstName} ${person.lastName}`;

// scan returns the content of a visible QR code.
export async function scan(code) {
  const input = await code.screenshot();
  return execFileSync("zbarimg", ["--nodbus", "--quiet", "--raw", "png:-"], { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] }).trim();
}

// fill types into the fields of a person's form.
export async function fill(page, fields) {
  for (const [name, value] of Object.entries(fields)) await field(page, name).fill(value);
}

// counted waits until the page shows this number of people.
export async function counted(page, text) {
  await page.getByRole("status").filter({ hasText: new RegExp(`^\\s*${text}\\s*$`) }).waitFor()
    .catch(() => { throw new Error(`the page lacks "${text}"`); });
}

// search types into the search field.
export async function search(page, text) {
  await searchField(page).fill("");
  await searchField(page).pressSequentially(text);
}

// people returns the cells of the list by row.
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
export async function signIn(page, keyOrCode) {
  await page.getByLabel("Key or code", { exact: true }).fill(keyOrCode);
  await main(page).getByRole("button", { name: words.signIn }).click();
}

// signedIn signs in with the program's first key and returns the session.
export async function signedIn(browser, program, options = {}) {
  const page = await browser.open(program, "/office/sign-in", { scripts: false, ...options });
  await signIn(page, options.key ?? program.key);
  await page.waitForURL((url) => url.pathname === "/office/");
  return page.context().storageState();
}

// invitation creates an invitation on the access page and returns its link.
export async function invitation(page, name, scope) {
  await page.goto("/office/access");
  const form = main(page).locator('form[action$="/office/access/invite"]');
  await form.getByRole("textbox", { name: /name/i }).fill(name);
  await form.locator("[name=scope]").selectOption(scope);
  await form.getByRole("button", { name: /invite|invitation/i }).click();
  return main(page).getByLabel("Link", { exact: true }).inputValue();
}

// atSignIn checks that the page asks for a sign-in.
export async function atSignIn(page) {
  await page.getByLabel("Key or code", { exact: true }).waitFor();
  equal(await main(page).getByRole("table").count(), 0, "tables at sign-in");
}
