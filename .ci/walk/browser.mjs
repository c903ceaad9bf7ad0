// A browser that watches its pages: what a page complains of, and each request
// that leaves the machine or fails, is a fault of the step.
import { join } from "node:path";
import { chromium } from "playwright-core";
import { check } from "./steps.mjs";

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export class Browser {
  // start starts Chromium with a folder of its own for its profile.
  static async start(executable, pictures) {
    const browser = new Browser();
    browser.chromium = await chromium.launch({ executablePath: executable, args: flags, headless: true });
    browser.picturesDir = pictures;
    browser.contexts = [];
    browser.faults = [];
    browser.expected = new Set();
    return browser;
  }

  // context opens a browser of its own within the browser: no cookie, no cache.
  async context(options = {}) {
    const { scripts = true, ...rest } = options;
    const context = await this.chromium.newContext({ javaScriptEnabled: scripts, locale: "en-GB",
      viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...rest });
    context.setDefaultTimeout(60000);
    this.watch(context);
    this.contexts.push(context);
    return context;
  }

  // open opens a page of a program: { session, scripts, … } as a browser of its own.
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
      if (url.hostname !== "127.0.0.1") fault(`a request leaves the machine: ${request.url()}`);
    });
    context.on("requestfailed", (request) => {
      const why = request.failure()?.errorText;
      if (why !== "net::ERR_ABORTED") fault(`${request.method()} ${request.url()} failed: ${why}`); // aborted by the page itself
    });
    context.on("response", (response) => {
      if (response.status() >= 400 && !this.expected.has(response.status())) {
        fault(`${response.request().method()} ${response.url()} was answered with ${response.status()}`);
      }
    });
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type()) && !message.text().startsWith("Failed to load resource:")) {
        fault(`the page complains: ${message.text()}`);
      }
    });
    context.on("weberror", (error) => fault(`an error in the script: ${error.error().stack}`));
    context.on("dialog", async (dialog) => {
      if (dialog.type() !== "beforeunload") fault(`a dialog opens: ${dialog.message()}`);
      await dialog.accept();
    });
  }

  // expect does something that is answered with one of these statuses, which
  // are else faults.
  async expect(page, statuses, action) {
    for (const status of [statuses].flat()) this.expected.add(status);
    try {
      const answered = page.waitForResponse((response) => this.expected.has(response.status()));
      answered.catch(() => {});
      await action();
      const response = await answered.catch(() => null);
      check(response, `no request was answered with ${statuses}; the page is now ${page.url()}`);
      await page.waitForLoadState();
      return response;
    } finally {
      this.expected.clear();
    }
  }

  // end closes what a step has opened and returns its faults, with a picture of
  // each page if the step failed.
  async end(name, error) {
    const faults = [...new Set(this.faults)];
    this.faults = [];
    const pages = this.contexts.flatMap((context) => context.pages());
    if (error || faults.length > 0) {
      for (const [number, page] of pages.entries()) {
        const path = join(this.picturesDir, `office-${name.replace(/\W+/g, "-")}${number ? `-${number + 1}` : ""}.png`);
        const taken = await page.screenshot({ path, fullPage: true }).then(() => true, () => false);
        if (taken) faults.push(`${page.url()} looks so: ${path}`);
      }
    }
    await Promise.all(this.contexts.map((context) => context.close()));
    this.contexts = [];
    return faults;
  }

  stop() { return this.chromium.close(); }
}
