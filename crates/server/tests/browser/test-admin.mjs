// The operators' page: logging in, what each role sees, each action, light and dark, a phone.

import { findIssues } from "./accessible.mjs";
import { admin, assert, file, open, picture, server, world } from "./world.mjs";
import { execFileSync } from "node:child_process";

const PASSWORD = "a password of six words";
const CONFIG = `
[issuer]
gate = "both"
verify = true
[gates.friends]
kind = "invitation"
[gates.work]
kind = "pow"
algorithm = "sha256"
bits = 8
[gates.both]
kind = "any"
of = ["friends", "work"]
[keys]
types = [1, 5]
`;

await world(async ({ directory, browser, start }) => {
  const data = `${directory}/issuer`;
  const config = file(directory, "config.toml", CONFIG);
  const issuer = await start("issuer", "--data", data, "--listen", "127.0.0.1:0", "--config", config);
  const password = file(directory, "password", PASSWORD);
  for (const role of ["viewer", "operator", "admin"]) {
    admin("set-operator", `a.${role}`, "--role", role, "--password-file", password, "--data", data);
  }
  spend(issuer);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  const { page, wrong } = await open(context, issuer.admin);
  await refuses(page);
  await logIn(page, "a.admin");
  await pageIsAccessible(page);
  await showsTheService(page, data);
  await invites(page, data, issuer);
  await rotates(page, data);
  await revokes(page, data);
  await audits(page);
  await draws(page, issuer);
  await pictures(browser, context, issuer.admin);
  await logsOut(page, context, issuer.admin);
  assert.deepEqual(wrong, [], "no error, no request to others");
  await rolesSeeLess(browser, issuer.admin);
  console.log("admin page: all good");
});

/** A token, issued and redeemed, so that there is something to see. */
function spend(issuer) {
  for (let i = 0; i < 3; i++) {
    const token = execFileSync(server, ["token", "--origin", `${issuer.url}/verify`, "--issuer", issuer.url], { encoding: "utf8" });
    execFileSync("curl", ["-sSf", "-H", `Authorization: ${token.trim()}`, `${issuer.url}/verify`]);
  }
}

async function refuses(page) {
  await page.getByLabel("Name").waitFor();
  await picture(page, "login-light");
  await page.getByLabel("Name").fill("a.admin");
  await page.getByLabel("Password").fill("a wrong password");
  await page.keyboard.press("Enter");
  await page.getByRole("status").filter({ hasText: "wrong" }).waitFor();
  assert.equal(await page.getByLabel("Password").inputValue(), "", "the password is not kept");
}

async function logIn(page, name) {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Audit log" }).waitFor();
}

/** Names, labels, landmarks, contrast, and the way of the keyboard. */
async function pageIsAccessible(page) {
  const findings = await page.evaluate(findIssues);
  assert.deepEqual(findings, []);
  const planted = await page.evaluate(`(() => {
    document.body.insertAdjacentHTML("beforeend", "<button id=planted></button><p id=planted2>x</p>");
    Object.assign(document.getElementById("planted2").style, { color: "#888", background: "#999" });
    const found = (${findIssues})();
    document.getElementById("planted").remove();
    document.getElementById("planted2").remove();
    return found;
  })()`);
  assert.equal(planted.length, 2, `planted faults are found: ${planted}`);
  await page.reload();
  await page.getByRole("heading", { name: "Audit log" }).waitFor();
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => document.activeElement.textContent);
  assert.equal(first, "Skip to content", "the first stop of the keyboard");
}

async function showsTheService(page, data) {
  const status = admin("status", "--data", data);
  const rows = page.locator("#key-table tbody tr");
  assert.equal(await rows.count(), status.keys.length);
  assert.match(await page.locator("#set-table").innerText(), /spent-[0-9a-f]{16}-\d+\s+3\s/);
  assert.match(await page.locator("#figures").innerText(), /Spent tokens\s+3/);
  assert.match(await page.locator("#gate").innerText(), /any of\s+invitations “friends”\s+proof of work “work”/);
}

async function invites(page, data, issuer) {
  await page.getByLabel("Tokens", { exact: true }).fill("2");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("img", { name: "QR code of the invitation" }).waitFor();
  const proof = await page.locator("#invitation").innerText();
  assert.match(proof, /^friends [\w-]{40,}$/);
  const gate = ["--proof", proof];
  execFileSync(server, ["token", "--origin", `${issuer.url}/verify`, "--issuer", issuer.url, ...gate]);
  await picture(page, "invitation-light");
  await page.getByRole("button", { name: "Done" }).click();
  assert.equal(await page.locator("#invitation").textContent(), "", "it is shown once");
  await page.getByRole("button", { name: /^Revoke [0-9a-f]{32}$/ }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("The invitation is revoked.").waitFor();
  assert.equal(admin("invitations", "--data", data).invitations[0].revoked, true);
}

function epoch(data) {
  return admin("status", "--data", data).keys[0].epoch;
}

async function rotates(page, data) {
  const before = epoch(data);
  await page.getByRole("button", { name: "Begin the next epoch…" }).click();
  await page.keyboard.press("Escape");
  assert.equal(epoch(data), before, "a dialog that is left does nothing");
  await page.getByRole("button", { name: "Begin the next epoch…" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("The next epoch has begun.").waitFor();
  assert.equal(epoch(data), before + 1);
}

async function revokes(page, data) {
  const before = admin("status", "--data", data).keys[0]["key-id"];
  await page.getByRole("button", { name: "Revoke all keys…" }).click();
  const confirm = page.getByRole("button", { name: "Confirm" });
  assert.equal(await confirm.isDisabled(), true, "the word is missing");
  await page.getByLabel("Type revoke to confirm").fill("revoke");
  await picture(page, "revoke-light");
  await confirm.click();
  await page.getByText("All keys were replaced.").waitFor();
  assert.notEqual(admin("status", "--data", data).keys[0]["key-id"], before);
}

async function audits(page) {
  const text = await page.locator("#audit-table").innerText();
  for (const did of ["keys revoked", "keys rotated", "uninvited", "invited", "logged in", "login refused", "operator set", "started"]) {
    assert.ok(text.includes(did), `${did} is in the log: ${text}`);
  }
  await page.getByRole("button", { name: "Check the whole log" }).click();
  await page.locator("#verified").filter({ hasText: "Whole, up to" }).waitFor();
}

/** Points come each ten seconds. */
async function draws(page, issuer) {
  const points = async () => ((await page.locator("#rates path").first().getAttribute("d")) ?? "").split("L").length;
  const end = Date.now() + 60_000;
  while ((await points()) < 3) {
    assert.ok(Date.now() < end, "the curves have points within a minute");
    spend(issuer);
    await page.waitForTimeout(1000);
  }
  assert.match(await page.locator("#rates-title").innerText(), /the top is (?!0\.0)/);
}

/** Light and dark, wide and narrow screens: all of the page fits, and everything has contrast. */
async function pictures(browser, context, url) {
  const storageState = await context.storageState();
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, width] of [["desk", 1280], ["phone", 360]]) {
      const other = await browser.newContext({ storageState, colorScheme, viewport: { width, height: 800 } });
      const { page, wrong } = await open(other, url);
      await page.getByRole("heading", { name: "Audit log" }).waitFor();
      assert.deepEqual(await page.evaluate(findIssues), [], `${name}, ${colorScheme}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name}: ${wide} pixels`);
      await picture(page, `${name}-${colorScheme}`);
      assert.deepEqual(wrong, []);
      await other.close();
    }
  }
}

async function logsOut(page, context, url) {
  const stolen = await context.cookies();
  assert.ok(stolen.every((cookie) => cookie.httpOnly && cookie.sameSite === "Strict"));
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByText("You are logged out.").waitFor();
  await context.addCookies(stolen);
  const answer = await context.request.get(`${url}/api/status`);
  assert.equal(answer.status(), 401, "the cookie of an ended session");
}

async function rolesSeeLess(browser, url) {
  for (const [role, rotate, revoke] of [["viewer", false, false], ["operator", true, false]]) {
    const context = await browser.newContext();
    const { page } = await open(context, url);
    await logIn(page, `a.${role}`);
    assert.equal(await page.locator("#rotate").isVisible(), rotate, role);
    assert.equal(await page.locator("#revoke").isVisible(), revoke, role);
    const forced = await page.evaluate(async () => {
      const headers = { "content-type": "application/json", "sealstone-admin": "1" };
      return (await fetch("/api/revoke-keys", { method: "POST", headers, body: "{}" })).status;
    });
    assert.equal(forced, 403, `${role} without the button`);
    await context.close();
  }
}
