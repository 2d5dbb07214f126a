#!/usr/bin/env node
// Issuers of Privacy Pass beside each other: sealstone-server, the crate privacypass behind hyper,
// Cloudflare's library behind node. Single tokens of both types of RFC 9578, over HTTP/1.1 on
// loopback.
//
// All issuers run on core 0; this program, the load, belongs on another one. Each round measures
// all issuers in turn, with the same connections, which are kept. Each connection has one request,
// made by Cloudflare's client for that issuer's key. Every response is compared with the first one
// to that request, as far as it is not random, and that one makes a token.
//
// It prints minimum and median of the rounds, and fails if ours is slower than another.
//
// usage: taskset -c 1 bench/issuers.mjs --server PATH [--peer PATH] [--modules DIRECTORY]
//        [--rounds N] [--seconds N]
//   --server   sealstone-server
//   --peer     sealstone-token-peer, of crates/token/tests/interop/rust
//   --modules  where scripts/test-interop --install put Cloudflare's library

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as ask } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { library } from "./issuers/library.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
/** The core of the issuers. */
const CORE = "0";
const CONNECTIONS = 16;
const OURS = ["sealstone, no gate", "sealstone, each request counted durably"];
const OTHERS = ["crate privacypass, hyper", "privacypass-ts, node"];
/** The least ratio of rates to each other issuer. */
const BAR = 1;

const { values: options } = parseArgs({
  options: {
    server: { type: "string" },
    peer: { type: "string", default: join(HERE, "../target/release/sealstone-token-peer") },
    modules: { type: "string", default: join(HERE, "../.tools/interop-node") },
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "3" },
  },
});
assert(options.server, "usage: issuers.mjs --server PATH");
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];

const pass = await library(options.modules);
const { privateVerif, publicVerif } = pass;
const PSS = publicVerif.BlindRSAMode.PSS;
/** The types: a client, its origin, and how many bytes of a response are not random. */
const TYPES = {
  "0x0001, VOPRF of P-384": { number: 1, client: () => new privateVerif.Client(), origin: new privateVerif.Origin(["bench"]), fixed: 49, length: 145 },
  "0x0002, blind RSA of 2048 bits": { number: 2, client: () => new publicVerif.Client(PSS), origin: new publicVerif.Origin(PSS, ["bench"]), fixed: 256, length: 256 },
};

/** A limit that nobody reaches: the gate counts each request in the store. */
const COUNTED = "[issuer]\ngate = \"count\"\n[gates.count]\nkind = \"rate\"\nlimit = 1000000000000\nperiod = 86400\n";

/** Programs by the issuers' names. */
function commands(directory) {
  const config = (name, text) => {
    const path = join(directory, `${name}.toml`);
    writeFileSync(path, `[admin]\nlisten = ""\n[log]\nlevel = "error"\n${text}`);
    return [options.server, "issuer", "--listen", "127.0.0.1:0", "--data", join(directory, name), "--config", path];
  };
  return {
    [OURS[0]]: config("none", "[issuer]\ngate = \"none\"\n"),
    [OURS[1]]: config("counted", COUNTED),
    [OTHERS[0]]: [options.peer, "--serve"],
    [OTHERS[1]]: [process.execPath, join(HERE, "issuers/cloudflare.mjs"), options.modules],
  };
}

/** Starts a program on its core, and waits for its URL. */
async function start(started, command) {
  const child = spawn("taskset", ["-c", CORE, ...command], { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  for await (const line of createInterface(child.stdout)) return JSON.parse(line).url;
  throw new Error(`it ended: ${command.join(" ")}`);
}

/** The requests that all connections of one issuer and one type send. */
class Job {
  /** For requests that are not measured: issuers end connections that wait. */
  agent = false;

  constructor(url, type, requests) {
    Object.assign(this, { url, type, requests });
  }

  static async of(issuer, type) {
    const answer = await fetch(new URL("/.well-known/private-token-issuer-directory", issuer));
    const directory = await answer.json();
    const entry = directory["token-keys"].find((entry) => entry["token-type"] === type.number);
    const key = new Uint8Array(Buffer.from(entry["token-key"], "base64url"));
    const challenge = type.origin.createTokenChallenge("bench", new Uint8Array());
    const requests = [];
    for (let i = 0; i < CONNECTIONS; i++) {
      const client = type.client();
      const body = Buffer.from((await client.createTokenRequest(challenge, key)).serialize());
      requests.push({ client, body });
    }
    const job = new Job(new URL(directory["issuer-request-uri"], issuer), type, requests);
    for (const request of requests) request.expected = await job.redeemable(request);
    return job;
  }

  /** The fixed part of a response that makes a token. */
  async redeemable(request) {
    const response = await this.send(request);
    // A client finalizes once, so a copy of it does.
    const client = Object.assign(Object.create(request.client), request.client);
    await client.finalize(client.deserializeTokenResponse(Uint8Array.from(response)));
    return response.subarray(0, this.type.fixed);
  }

  send({ body, expected }) {
    const headers = { "content-type": "application/private-token-request", "content-length": body.length };
    return new Promise((resolve, reject) => {
      const sent = ask(this.url, { method: "POST", agent: this.agent, headers }, (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => {
          const whole = Buffer.concat(parts);
          const isGood = response.statusCode === 200
            && response.headers["content-type"] === "application/private-token-response"
            && whole.length === this.type.length
            && (!expected || expected.equals(whole.subarray(0, this.type.fixed)));
          isGood ? resolve(whole) : reject(new Error(`${this.url}: a wrong answer, ${response.statusCode}`));
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** Milliseconds of a token, when all connections ask as fast as they can. */
  async measure(seconds) {
    this.agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const begun = performance.now();
    let done = 0;
    const loop = async (request) => {
      do {
        await this.send(request);
        done++;
      } while (performance.now() - begun < 1000 * seconds);
    };
    await Promise.all(this.requests.map(loop));
    const each = (performance.now() - begun) / done;
    this.agent.destroy();
    this.agent = false;
    await this.redeemable(this.requests[0]);
    return each;
  }
}

const minimum = (times) => Math.min(...times);
const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1];

/** Prints the times and ratios of one type. Whether ours is the quickest. */
function report(name, times) {
  console.log(`\n| ${name} | ms a token, minimum | median | tokens/s, median |\n|---|---|---|---|`);
  for (const [issuer, each] of Object.entries(times)) {
    const rate = 1000 / median(each);
    console.log(`| ${issuer} | ${minimum(each).toFixed(3)} | ${median(each).toFixed(3)} | ${rate.toFixed(rate < 100 ? 1 : 0)} |`);
  }
  console.log("\n| times as fast | of minima | of medians | bar | |\n|---|---|---|---|---|");
  let isReached = true;
  for (const ours of OURS) {
    for (const other of OTHERS) {
      const of = (figure) => figure(times[other]) / figure(times[ours]);
      const verdict = of(median) >= BAR ? "reached" : "**missed**";
      isReached &&= of(median) >= BAR;
      console.log(`| ${ours}: ${other} | ${of(minimum).toFixed(2)} | ${of(median).toFixed(2)} | ${BAR.toFixed(2)} | ${verdict} |`);
    }
  }
  return isReached;
}

async function main(directory, started) {
  const urls = {};
  for (const [name, command] of Object.entries(commands(directory))) urls[name] = await start(started, command);
  let isReached = true;
  for (const [name, type] of Object.entries(TYPES)) {
    const jobs = [];
    for (const [issuer, url] of Object.entries(urls)) jobs.push([issuer, await Job.of(url, type)]);
    const times = Object.fromEntries(jobs.map(([issuer]) => [issuer, []]));
    // Compilers of node and caches are warm before anything counts.
    for (const [, job] of jobs) await job.measure(1);
    for (let round = 0; round < rounds; round++) {
      for (const [issuer, job] of jobs) times[issuer].push(await job.measure(seconds));
    }
    isReached = report(name, times) && isReached;
  }
  return isReached;
}

const directory = mkdtempSync(join(tmpdir(), "bench-issuers-"));
const started = [];
try {
  process.exitCode = (await main(directory, started)) ? 0 : 1;
} finally {
  started.forEach((child) => child.kill("SIGKILL"));
  rmSync(directory, { recursive: true, force: true });
}
