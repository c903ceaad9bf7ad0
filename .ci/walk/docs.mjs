// The page that shows the document of the API, and tries it.
import { check, equal, step } from "./steps.mjs";

// tasks asks for the changes through the page, with a key that it stores nowhere.
export async function tasks(browser, program) {
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
    await page.locator("#operations-Exchange-listChanges .live-responses-table").getByText("position").first().waitFor();
    const kept = await page.evaluate(() => [document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join());
    check(!kept.includes(program.key), `the page keeps the key: ${kept}`);
  });
}
