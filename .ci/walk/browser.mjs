// A browser that reports warnings and errors of its pages, failed requests, and requests to other
// hosts as faults of the step.
import { join } from "node:path";
import { chromium } from "playwright-core";
import { check } from "./steps.mjs";

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export class Browser {
  // start starts Chromium with a separate profile folder.
  static async start(executable, pictures) {
    const browser = new Browser();
    browser.chromium = await chromium.launch({ executablePath: executable, args: flags, headless: true });
    browser.picturesDir = pictures;
    browser.contexts = [];
    browser.faults = [];
    browser.expected = new Set();
    return browser;
  }

  // context opens a separate browser context without cookies or cache.
  async context(options = {}) {
    const { scripts = true, ...rest } = options;
    const context = await this.chromium.newContext({ javaScriptEnabled: scripts, locale: "en-GB",
      viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...rest });
    context.setDefaultTimeout(60000);
    this.watch(context);
    this.contexts.push(context);
    return context;
  }

  // open opens a page of a program in a separate context: { session, scripts, … }.
  async open(program, path = "/office/", options = {}) {
    const { session, ...rest } = options;
    const context = await this.context({ baseURL: program.url, storageState: session, ...rest });
    const page = await context.newPage();
    if (path) await page.goto(path);
    return page;
  }

  watch(context) {
    const fault = (text) => this.faults.push(text);
    context.on("request", (request) => {
      const url = new URL(request.url());
      if (url.hostname !== "127.0.0.1") fault(`a request to another host: ${request.url()}`);
    });
    context.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText;
      if (reason !== "net::ERR_ABORTED") fault(`${request.method()} ${request.url()} failed: ${reason}`); // aborted by the page itself
    });
    context.on("response", (response) => {
      if (response.status() >= 400 && !this.expected.has(response.status())) {
        fault(`${response.request().method()} ${response.url()} returned ${response.status()}`);
      }
    });
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type()) && !message.text().startsWith("Failed to load resource:")) {
        fault(`the page logs: ${message.text()}`);
      }
    });
    context.on("weberror", (error) => fault(`script error: ${error.error().stack}`));
    context.on("dialog", async (dialog) => {
      if (dialog.type() !== "beforeunload") fault(`unexpected dialog: ${dialog.message()}`);
      await dialog.accept();
    });
  }

  // expect runs an action whose request must return one of these statuses, which are otherwise
  // faults.
  async expect(page, statuses, action) {
    for (const status of [statuses].flat()) this.expected.add(status);
    try {
      const expected = page.waitForResponse((response) => this.expected.has(response.status()));
      expected.catch(() => {});
      await action();
      const response = await expected.catch(() => null);
      check(response, `no request returned ${statuses}; the page is now ${page.url()}`);
      await page.waitForLoadState();
      return response;
    } finally {
      this.expected.clear();
    }
  }

  // end closes all pages of a step and returns its faults, with a screenshot of each page if the step
  // failed.
  async end(name, error) {
    const faults = [...new Set(this.faults)];
    this.faults = [];
    const pages = this.contexts.flatMap((context) => context.pages());
    if (error || faults.length > 0) {
      for (const [number, page] of pages.entries()) {
        const path = join(this.picturesDir, `office-${name.replace(/\W+/g, "-")}${number ? `-${number + 1}` : ""}.png`);
        const taken = await page.screenshot({ path, fullPage: true }).then(() => true, () => false);
        if (taken) faults.push(`${page.url()} screenshot: ${path}`);
      }
    }
    await Promise.all(this.contexts.map((context) => context.close()));
    this.contexts = [];
    return faults;
  }

  stop() { return this.chromium.close(); }
}
