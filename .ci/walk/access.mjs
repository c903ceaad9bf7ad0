// Signing in and out, sessions, invitations and scopes.
import { check, equal, step, until } from "./steps.mjs";
import { atSignIn, field, fill, invitation, main, nameOf, notice, row, saveButton, scan, signIn, values, words } from "./office.mjs";

const sessionCookie = async (page) => (await page.context().cookies()).find((cookie) => cookie.path === "/office/" && cookie.httpOnly);

export async function sessions(browser, station, scripts) {
  const how = scripts ? "" : ", no scripts";
  const open = (path, options) => browser.open(station, path, { session: station.session, scripts, ...options });

  await step(`sign in leads back to where one was${how}`, async () => {
    const page = await browser.open(station, "/office/?search=covic", { scripts });
    await atSignIn(page);
    await signIn(page, station.key);
    await page.waitForURL("/office/?search=covic");
    const cookie = await sessionCookie(page);
    check(cookie, "there is no cookie for the page");
    equal([cookie.sameSite, cookie.secure, cookie.path], ["Strict", false, "/office/"], "the cookie");
    check(cookie.name.includes(new URL(station.url).port), `the port is not in the cookie's name ${cookie.name}`);
    const days = (cookie.expires - Date.now() / 1000) / 86400;
    check(days > 89 && days < 91, `the cookie expires after ${days} days`);
  });

  await step(`a shared computer gets a cookie for the session only${how}`, async () => {
    const page = await browser.open(station, "/office/sign-in", { scripts });
    await signIn(page, station.key, { shared: true });
    await page.waitForURL("/office/");
    equal((await sessionCookie(page)).expires, -1, "when the cookie expires");
  });

  await step(`the command invites${how}`, async () => {
    const text = station.run("invite", "--db", station.db, "--tenant", "default", "--name", "Ana Čović");
    const link = /https?:\/\/\S+#code=\S+/.exec(text)?.[0];
    check(link?.startsWith(`${station.url}/office/sign-in#code=`), `the link is not that of the service: ${text}`);
    const code = link.split("#code=")[1];
    const page = await browser.open(station, null, { scripts });
    await page.goto(scripts ? link : "/office/sign-in");
    if (scripts) await main(page).getByRole("button", { name: words.signIn }).click();
    else await signIn(page, code);
    await page.waitForURL("/office/");
  });

  await step(`invite on the page, one press, revoke${how}`, async () => {
    const name = `Marko ${scripts ? "One" : "Two"}`;
    const admin = await open("/office/");
    const { link, code } = await invitation(admin, name, "write");
    const qr = main(admin).getByRole("img", { name: `QR code of the link for ${name}` });
    check((await qr.boundingBox()).width > 150, "the QR code is too small for a camera");
    equal(await scan(qr), link, "what a camera reads");
    await admin.emulateMedia({ media: "print" });
    check(await qr.isVisible() && await main(admin).getByText(link).isVisible(), "the invitation is not printed");
    equal(await main(admin).getByRole("table").count(), 0, "tables beside the printed invitation");
    await admin.emulateMedia({ media: "screen" });
    const guest = await browser.open(station, null, { scripts });
    await guest.goto(link);
    if (scripts) await main(guest).getByRole("button", { name: words.signIn }).click();
    else await signIn(guest, code);
    await guest.waitForURL("/office/");
    await admin.goto("/office/access");
    const session = row(admin, `${name} (browser)`).or(main(admin).getByRole("listitem").filter({ hasText: `${name} (browser)` }));
    check(/Chrome, \w+/.test(await session.innerText()), `the session does not say its device: ${await session.innerText()}`);
    await session.getByRole("button", { name: words.revoke }).click();
    await until("the revoked session leads to sign-in", async () => {
      await guest.goto("/office/");
      return new URL(guest.url()).pathname === "/office/sign-in";
    });
    await atSignIn(guest);
  });

  await step(`the session ends while a form is filled: nothing typed is lost${how}`, async () => {
    const page = await open("/office/people/new");
    const typed = { firstName: "Ana", lastName: `Kept${scripts ? "One" : "Two"}`, phoneNumber: "091 800", email: "kept@example.com", dateOfBirth: "1 May 1990" };
    await fill(page, typed);
    await page.context().clearCookies();
    await browser.expect(page, 401, () => saveButton(page).click());
    await browser.expect(page, 403, () => signIn(page, "wrong"));
    await signIn(page, station.key);
    await field(page, "firstName").waitFor();
    equal(await values(page), typed, "the form after signing in");
    equal((await station.list(typed.lastName)).length, 0, "people before it is saved");
    await saveButton(page).click();
    await notice(page).filter({ hasText: nameOf(typed) }).waitFor();
    equal((await station.list(typed.lastName)).length, 1, "people");
  });

  await step(`the session ends while somebody is edited${how}`, async () => {
    const person = await station.add({ firstName: "Task", lastName: `Session${scripts ? "One" : "Two"}`, phoneNumber: "1" });
    const page = await open(`/office/people/${person.id}`);
    await fill(page, { phoneNumber: "091 801" });
    await page.context().clearCookies();
    await station.change(person, { email: "meanwhile@example.com" });
    await browser.expect(page, 401, () => saveButton(page).click());
    await signIn(page, station.key);
    await field(page, "firstName").waitFor();
    equal((await values(page, ["phoneNumber"])).phoneNumber, "091 801", "the phone that was typed");
    await browser.expect(page, [409, 412], () => saveButton(page).click());
    equal((await station.get(person.id)).body.email, "meanwhile@example.com", "what the other saved");
  });

  await step(`sign out${how}`, async () => {
    const page = await browser.open(station, "/office/sign-in", { scripts });
    await signIn(page, station.key);
    await page.waitForURL("/office/");
    const { name, value } = await sessionCookie(page);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("status").filter({ hasText: "You are signed out" }).waitFor();
    await atSignIn(page);
    await page.goBack();
    await atSignIn(page);
    const answer = await fetch(`${station.url}/office/`, { headers: { Cookie: `${name}=${value}` }, redirect: "manual" });
    equal(answer.status, 303, "the list with the cookie of the session that ended");
  });

  await step(`sign out asks who came by an invitation${how}`, async () => {
    const { code } = await invitation(await open("/office/"), `Guest ${scripts ? "One" : "Two"}`, "write");
    const page = await browser.open(station, "/office/sign-in", { scripts });
    equal(await main(page).getByText("type this code").isVisible(), !scripts, "whether the page says to type the code");
    await signIn(page, code);
    if (scripts) {
      await page.goto("/office/people/new");
      await fill(page, { firstName: "Typed" });
      const asked = page.waitForEvent("dialog");
      await page.getByRole("button", { name: "Sign out" }).click();
      equal((await asked).type(), "beforeunload", "what asks before typed text is left");
      await main(page).getByText("you need a new code").waitFor();
    }
    await page.goto("/office/birthdays");
    await page.getByRole("button", { name: "Sign out" }).click();
    await main(page).getByText("you need a new code").waitFor();
    await main(page).getByRole("link", { name: "Stay signed in" }).click();
    await page.waitForURL("/office/birthdays");
    await page.getByRole("button", { name: "Sign out" }).click();
    await main(page).getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("status").filter({ hasText: "You are signed out" }).waitFor();
    await atSignIn(page);
  });
}

// scopes are what read may not do.
export async function scopes(browser, station) {
  await step("read sees no buttons that write", async () => {
    const admin = await browser.open(station, "/office/", { session: station.session });
    const { code } = await invitation(admin, "Reader", "read");
    const page = await browser.open(station, "/office/sign-in");
    await signIn(page, code);
    await page.waitForURL("/office/");
    const [ana] = await station.list("covic");
    for (const path of ["/office/", `/office/people/${ana.id}`, "/office/deleted", `/office/people/${ana.id}/history`, "/office/history", "/office/birthdays", "/office/paper", "/office/print"]) {
      await page.goto(path);
      await main(page).waitFor();
      equal(await page.getByRole("button", { name: words.writes }).allInnerTexts(), [], `buttons of ${path}`);
      equal(await page.getByRole("link", { name: words.add }).allInnerTexts(), [], `links of ${path}`);
    }
    for (const path of ["/office/people/new", "/office/access"]) {
      await browser.expect(page, 403, () => page.goto(path));
      check((await main(page).innerText()).length > 20, `${path} says nothing`);
    }
  });
}
