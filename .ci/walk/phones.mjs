// Setting up phones: the QR codes on the page.
import { check, equal, step } from "./steps.mjs";
import { main, scan, signedIn } from "./office.mjs";

// setUp sets up a device on the page and waits for the one-time instructions.
export async function setUp(page, kind, name) {
  await page.goto("/office/access");
  await page.getByRole("link", { name: "Phones", exact: true }).click();
  await main(page).getByRole("radio", { name: kind }).check();
  await main(page).getByRole("textbox", { name: "Name of the device" }).fill(name);
  await main(page).getByRole("button", { name: "Set up", exact: true }).click();
  await page.getByRole("heading", { name: `How to set up ${name}` }).waitFor();
}

const shown = (page, label) => main(page).getByRole("textbox", { name: label, exact: true }).inputValue();

// cameras sets up phones over HTTPS, which DAVx5 requires.
export async function cameras(browser, encrypted) {
  await step("the QR codes for an iPhone and an Android phone", async () => {
    const ignoreHTTPSErrors = true, session = await signedIn(browser, encrypted, { ignoreHTTPSErrors });
    const page = await browser.open(encrypted, "/office/", { session, ignoreHTTPSErrors });
    await setUp(page, "Android phone", "Android");
    equal(await scan(main(page).getByRole("img")), `davx5://phone:${await shown(page, "Password")}@${new URL(encrypted.url).host}/`, "the code for Android");
    await setUp(page, "iPhone, iPad or Mac", "iPhone");
    const link = await shown(page, "Link");
    equal(await scan(main(page).getByRole("img")), link, "the code for an iPhone");
    const phone = await browser.open(encrypted, null, { viewport: { width: 390, height: 800 }, ignoreHTTPSErrors, acceptDownloads: true });
    await phone.goto(link);
    const [profile] = await Promise.all([phone.waitForEvent("download"), main(phone).getByRole("link", { name: "Get the profile" }).click()]);
    check(profile.suggestedFilename() === "firefighters.mobileconfig", `the file name of the profile is ${profile.suggestedFilename()}`);
  });
}
