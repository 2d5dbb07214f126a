// Real services for a test, which ends them. SEALSTONE_SERVER names the program.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const server = process.env.SEALSTONE_SERVER;

/** Runs `test` with a new directory and functions that start services. */
export async function world(test) {
  const directory = mkdtempSync(join(tmpdir(), "sealstone-visitor-"));
  const started = [];
  const start = (...options) => service(started, options);
  try {
    await test({ directory, start, pair: (config) => pair(directory, start, config) });
  } finally {
    const ended = started.filter((process) => process.exitCode === null).map((process) => once(process, "exit"));
    for (const process of started) process.kill("SIGKILL");
    await Promise.all(ended);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** An issuer with a configuration, and a verifier of its tokens. */
async function pair(directory, start, config) {
  const path = join(directory, "config.toml");
  writeFileSync(path, config);
  const listen = ["--listen", "127.0.0.1:0"];
  const issuer = await start("issuer", "--data", join(directory, "issuer"), "--config", path, ...listen);
  const options = ["--data", join(directory, "verifier"), "--issuer", issuer.url, ...listen];
  const verifier = await start("verifier", ...options);
  return { issuer, verifier, origin: `${verifier.url}/verify`, own: `${issuer.url}/verify` };
}

/** Starts a service, and waits for the line that says where it is. */
async function service(started, options) {
  const env = { ...globalThis.process.env, SEALSTONE_SERVER_LOG__LEVEL: "error" };
  const process = spawn(server, options, { env, stdio: ["ignore", "pipe", "inherit"] });
  started.push(process);
  for await (const line of createInterface(process.stdout)) return { ...JSON.parse(line), process };
  throw new Error(`the service ended: ${options.join(" ")}`);
}
