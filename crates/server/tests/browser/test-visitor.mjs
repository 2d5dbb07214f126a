// The visitor's page and module: from the challenge to the session, giving up, reloading, light and
// dark, a phone.

import { assert, file, open, picture, world } from "./world.mjs";
import { origin } from "../../../../js/example/origin.mjs";
import { findIssues } from "./accessible.mjs";

const CONFIG = (bits, pages) => `
pages = ["${pages}"]
[gates.pow]
kind = "pow"
algorithm = "argon2id"
bits = ${bits}
memory-kib = 256
`;

await world(async ({ directory, browser, start }) => {
  const site = await listen();
  const listenAny = ["--listen", "127.0.0.1:0"];
  const services = async (name, bits) => {
    const config = file(directory, `${name}.toml`, CONFIG(bits, site.url));
    const issuer = await start("issuer", "--data", `${directory}/${name}`, "--config", config, ...listenAny);
    const verifier = await start("verifier", "--data", `${directory}/${name}-v`, "--issuer", issuer.url, ...listenAny);
    return { issuer: issuer.url, verifier: verifier.url };
  };
  const easy = await services("easy", 4);
  const endless = await services("endless", 40);
  await passes(browser, site, easy);
  await givesUp(browser, site, endless);
  await losesNothing(browser, site, easy);
  await otherPagesMayNot(browser, site, easy);
  await site.close();
  console.log("visitor's page: all good");
});

/** A server whose site can be changed. */
async function listen() {
  const { createServer } = await import("node:http");
  let current;
  const server = createServer((request, response) => current.emit("request", request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const use = (settings, more = {}) => (current = origin({ ...settings, settings: more }));
  const close = () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  return { url, use, close };
}

/** How many tokens the browser keeps. */
function tokens(page) {
  return page.evaluate(() => new Promise((resolve) => {
    const opening = indexedDB.open("sealstone", 1);
    opening.onsuccess = () => {
      const request = opening.result.transaction("tokens").objectStore("tokens").count();
      request.onsuccess = () => { opening.result.close(); resolve(request.result); };
    };
  }));
}

/** By the keyboard alone: from the challenge to the page, and again without a token. */
async function passes(browser, site, services) {
  site.use(services, { batch: 2 });
  const context = await browser.newContext();
  const { page, wrong } = await open(context, site.url, [services.issuer]);
  await page.getByRole("button", { name: "Let me in" }).waitFor();
  assert.deepEqual(await page.evaluate(findIssues, ["main", "h1"]), []);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "You are inside" }).waitFor();
  assert.equal(await tokens(page), 1, "two were got, one was used");
  for (let i = 0; i < 3; i++) await page.reload();
  assert.equal(await tokens(page), 1, "a page that is loaded again burns no token");
  await context.clearCookies();
  await page.goto(site.url);
  const issued = page.waitForRequest((request) => request.url().includes("/token-request"), { timeout: 3000 }).then(() => true, () => false);
  await page.getByRole("button", { name: "Let me in" }).click();
  await page.getByRole("heading", { name: "You are inside" }).waitFor();
  assert.deepEqual([await tokens(page), await issued], [0, false], "the second token, without work");
  assert.deepEqual(wrong, [], "no error, no request to others");
  await context.close();
}

async function givesUp(browser, site, services) {
  site.use(services);
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, width] of [["desk", 1280], ["phone", 360]]) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 700 } });
      const { page, wrong } = await open(context, site.url, [services.issuer]);
      await page.getByRole("button", { name: "Let me in" }).click();
      const progress = page.getByRole("progressbar", { name: "Progress of the work" });
      await progress.waitFor();
      await page.getByText(/tries of about 1,099,511,627,776/).waitFor();
      assert.deepEqual(await page.evaluate(findIssues, ["main", "h1"]), [], `${name}, ${colorScheme}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name}: ${wide} pixels`);
      await picture(page, `visitor-${name}-${colorScheme}`);
      await page.keyboard.press("Enter");
      await page.getByText("You gave up.").waitFor();
      assert.equal(await page.getByRole("button", { name: "Let me in" }).isVisible(), true);
      const end = Date.now() + 5000;
      while (page.workers().length > 0 && Date.now() < end) await page.waitForTimeout(50);
      assert.equal(page.workers().length, 0, "no worker goes on");
      assert.deepEqual(wrong, []);
      await context.close();
    }
  }
}

/** The page is left while the token is shown: the token is shown again, and is good. */
async function losesNothing(browser, site, services) {
  site.use(services);
  const context = await browser.newContext();
  const { page } = await open(context, site.url, [services.issuer]);
  let held = 0;
  await page.route("**/session", async (route) => {
    if (route.request().headers().authorization && held++ === 0) return; // It never arrives.
    await route.continue();
  });
  await page.getByRole("button", { name: "Let me in" }).click();
  while (held === 0) await page.waitForTimeout(20);
  await page.reload();
  assert.equal(await tokens(page), 1, "the token is still there");
  let issued = 0;
  page.on("request", (request) => (issued += request.url().includes("/token-request")));
  await page.getByRole("button", { name: "Let me in" }).click();
  await page.getByRole("heading", { name: "You are inside" }).waitFor();
  assert.equal(issued, 0, "no other token was needed");
  await context.close();
}

/** A page that the issuer's configuration does not name gets nothing from it. */
async function otherPagesMayNot(browser, site, services) {
  const other = await listen();
  other.use(services);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(other.url);
  await page.getByRole("button", { name: "Let me in" }).click();
  await page.getByText("This did not work. The connection failed.").waitFor();
  await context.close();
  await other.close();
}
