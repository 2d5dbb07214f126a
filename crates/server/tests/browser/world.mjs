// Services and a browser for a test, which ends both.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const modules = process.env.SEALSTONE_BROWSER_MODULES;
export const server = process.env.SEALSTONE_SERVER;
export const require = createRequire(join(modules, "package.json"));
const { chromium } = require("playwright-core");

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Runs `test` with a new directory, a browser, and a function that starts services. */
export async function world(test) {
  const directory = mkdtempSync(join(tmpdir(), "sealstone-browser-"));
  const started = [];
  const start = (...options) => service(started, options);
  let browser;
  try {
    browser = await chromium.launch({ executablePath: process.env.SEALSTONE_CHROMIUM, args: FLAGS });
    await test({ directory, browser, start });
  } finally {
    await browser?.close();
    const ended = started.filter((process) => process.exitCode === null).map((process) => once(process, "exit"));
    for (const process of started) process.kill("SIGKILL");
    await Promise.all(ended);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Starts a service, and waits for the line that says where it is. */
async function service(started, options) {
  const process = spawn(server, options, { stdio: ["ignore", "pipe", "inherit"] });
  started.push(process);
  for await (const line of createInterface(process.stdout)) return { ...JSON.parse(line), process };
  throw new Error(`the service ended: ${options.join(" ")}`);
}

/** Runs `sealstone-server admin …`. */
export function admin(...options) {
  return JSON.parse(execFileSync(server, ["admin", ...options], { encoding: "utf8" }));
}

/** Writes a file, and returns its path. */
export function file(directory, name, text) {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

/** A page whose errors, refused resources and requests to unknown others fail the test. */
export async function open(context, url, others = []) {
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => {
    // The page asks whether there is a session, and a refusal is an answer.
    if (message.type() === "error" && !message.text().includes("status of 4")) wrong.push(message.text());
  });
  page.on("request", (request) => {
    if (![url, ...others].some((known) => request.url().startsWith(known))) wrong.push(`a request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, wrong };
}

/** Keeps a picture if the caller wants pictures. */
export async function picture(page, name) {
  const directory = process.env.SEALSTONE_SCREENSHOTS;
  if (!directory) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}

export { assert };
