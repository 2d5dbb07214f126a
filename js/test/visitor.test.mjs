// The module in node, with real services.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { MemoryStore, Refused, Visitor, plan, solve } from "../dist/index.js";
import { world } from "./world.mjs";

const POW = (bits) => `[gates.pow]\nkind = "pow"\nbits = ${bits}\n`;
const VERIFY = "[issuer]\nverify = true\n";

/** Zero bits of SHA-256 by node, for a counter. */
function zeroBits(challenge, subject, counter) {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(counter));
  const digest = createHash("sha256").update(challenge).update(subject).update(number).digest();
  return digest.readBigUInt64BE().toString(2).padStart(64, "0").indexOf("1");
}

const work = (more) => ({
  algorithm: "sha256",
  challenge: new Uint8Array(56).fill(1),
  subject: new Uint8Array(32).fill(7),
  bits: 12,
  memoryKib: 0,
  passes: 0,
  ...more,
});

test("work by SHA-256 is what node computes", async () => {
  const reports = [];
  const { challenge, subject } = work();
  const counter = await solve(work(), { onProgress: (progress) => reports.push(progress) });
  assert.ok(zeroBits(challenge, subject, counter) >= 12, "enough zero bits");
  for (let earlier = 0n; earlier < BigInt(counter); earlier++) {
    assert.ok(zeroBits(challenge, subject, earlier) < 12, "and no counter before it");
  }
  assert.ok(reports.length > 0 && reports.at(-1).likely > 0 && reports.at(-1).expected === 4096);
});

test("work can be given up, and impossible work is refused", async () => {
  const stop = new AbortController();
  const endless = solve(work({ bits: 64 }), { signal: stop.signal, onProgress: () => stop.abort() });
  await assert.rejects(endless, { name: "AbortError" });
  await assert.rejects(solve(work({ bits: 300 })), /not possible/);
  await assert.rejects(solve(work({ algorithm: "argon2id", memoryKib: 1, passes: 1 })), /not possible/);
});

test("the least troublesome way through a gate is planned", () => {
  const pow = { kind: "pow", name: "pow" };
  const friends = { kind: "invitation", name: "friends" };
  const free = { kind: "rate", name: "rate" };
  const any = { kind: "any", of: [pow, friends, free] };
  const names = (gate, options = {}, without = new Set()) => plan(gate, options, without)?.gates.map(({ name }) => name);
  const proofs = { friends: "text" };
  assert.deepEqual(names(any), [], "a rate needs no proof");
  assert.deepEqual(names(any, {}, new Set(["rate"])), ["pow"]);
  assert.deepEqual(names(any, { proofs }, new Set(["rate"])), ["friends"]);
  assert.equal(names({ kind: "all", of: [pow, friends] }), undefined, "nobody can show an invitation");
  assert.deepEqual(names({ kind: "all", of: [pow, friends] }, { proofs }), ["friends", "pow"]);
  assert.deepEqual(names({ kind: "at-least", threshold: 2, of: [pow, friends, free] }), ["pow"]);
  assert.equal(names({ kind: "something-new", name: "x" }), undefined);
  const fair = { kind: "rate", name: "fair", of: [friends] };
  assert.equal(names(fair), undefined, "a rate of accounts needs an account");
  assert.deepEqual(names(fair, { proofs }), ["friends"]);
});

for (const algorithm of ["sha256", "argon2id"]) {
  test(`tokens of both types are got and redeemed, ${algorithm}`, () => world(async ({ pair }) => {
    const more = `algorithm = "${algorithm}"\nmemory-kib = 64\n`;
    const { issuer, origin, own } = await pair(`${VERIFY}${POW(4)}${more}`);
    const steps = [];
    const visitor = new Visitor({ issuer: issuer.url });
    const answer = await visitor.fetch(origin, {}, { onStep: (step) => steps.push(step) });
    assert.equal(answer.status, 200);
    assert.deepEqual(steps, ["asking", "working", "issuing", "redeeming"]);
    assert.equal((await visitor.fetch(own)).status, 200, "type 1, of the issuer itself");
  }));
}

test("a batch is got with one proof, and used one by one", () => world(async ({ pair }) => {
  const { issuer, origin } = await pair(POW(4));
  const visitor = new Visitor({ issuer: issuer.url, batch: 3 });
  let issued = 0;
  const onStep = (step) => (issued += step === "issuing");
  for (let i = 0; i < 6; i++) assert.equal((await visitor.fetch(origin, {}, { onStep })).status, 200);
  assert.equal(issued, 2, "two batches of three");
}));

test("tabs that share a store use no token twice", () => world(async ({ pair }) => {
  const { issuer, origin } = await pair(POW(2));
  const store = new MemoryStore();
  const shown = [];
  const tab = () => new Visitor({ issuer: issuer.url, store, batch: 4 }).fetch(origin, {}, {
    onStep: (step) => step === "redeeming" && shown.push(step),
  });
  const answers = await Promise.all(Array.from({ length: 8 }, tab));
  assert.deepEqual(answers.map((answer) => answer.status), new Array(8).fill(200));
  assert.equal(shown.length, 8, "nobody showed a token that another tab had shown");
}));

/** An origin before the verifier that loses requests or answers as it is told. */
async function losing(verifier, decisions) {
  const site = createServer(async (request, response) => {
    const { authorization } = request.headers;
    const what = authorization ? decisions.shift() : "pass";
    if (what === "lose request") return request.socket.destroy();
    const answer = await fetch(verifier, { headers: authorization ? { authorization } : {} });
    if (what === "lose answer") return request.socket.destroy();
    const challenges = answer.headers.get("www-authenticate");
    response.writeHead(answer.status, challenges ? { "www-authenticate": challenges } : {}).end();
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  return { site, url: `http://127.0.0.1:${site.address().port}/` };
}

for (const [what, expected] of [["lose request", 1], ["lose answer", 2]]) {
  test(`a token is shown again after a reload: ${what}`, () => world(async ({ pair }) => {
    const { issuer, origin } = await pair(POW(2));
    const { site, url } = await losing(origin, [what, "pass", "pass"]);
    const store = new MemoryStore();
    let issued = 0;
    const onStep = (step) => (issued += step === "issuing");
    await assert.rejects(new Visitor({ issuer: issuer.url, store }).fetch(url, {}, { onStep }));
    // As after a reload: another visitor with the same store.
    const again = await new Visitor({ issuer: issuer.url, store }).fetch(url, {}, { onStep });
    site.close();
    site.closeAllConnections();
    assert.deepEqual([again.status, issued], [200, expected], "tokens that were needed");
  }));
}

test("nobody is asked for a token where none is wanted", async () => {
  const site = createServer((request, response) => {
    response.writeHead(request.headers.authorization ? 500 : 200).end("free");
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  const answer = await new Visitor().fetch(`http://127.0.0.1:${site.address().port}/`);
  assert.deepEqual([answer.status, await answer.text()], [200, "free"]);
  site.close();
  site.closeAllConnections();
});

test("a key that the issuer does not list is refused: it would mark the visitor", () => world(async ({ pair, start, directory }) => {
  const { origin } = await pair(POW(2));
  const other = await start("issuer", "--data", `${directory}/other`, "--listen", "127.0.0.1:0", "--gate", "none");
  await assert.rejects(new Visitor({ issuer: other.url }).fetch(origin), /a key that its issuer does not have/);
}));

test("a long list of keys is not used beyond its second key", () => world(async ({ pair, start, directory }) => {
  const { issuer, origin } = await pair(POW(2));
  const other = await start("issuer", "--data", `${directory}/other`, "--listen", "127.0.0.1:0", "--gate", "none");
  const list = async ({ url }) => (await fetch(`${url}/.well-known/private-token-issuer-directory`)).json();
  const [honest, { "token-keys": strange }] = [await list(issuer), await list(other)];
  let keys = [];
  const long = createServer((request, response) => {
    const isList = request.url.startsWith("/.well-known/");
    response.writeHead(isList ? 200 : 404).end(JSON.stringify({ ...honest, "token-keys": keys }));
  });
  await new Promise((resolve) => long.listen(0, "127.0.0.1", resolve));
  const over = strange.map((key) => ({ ...key, "issue-until": 1 }));
  // The origin's key comes after these others. This issuer has no gate, which is the next step.
  for (const [before, expected] of [
    [strange, /status 404/],
    [[...over, ...over, ...strange], /status 404/],
    [[...strange, ...strange], /a key that its issuer does not have/],
  ]) {
    keys = [...before, ...honest["token-keys"]];
    const visitor = new Visitor({ issuer: `http://127.0.0.1:${long.address().port}` });
    await assert.rejects(visitor.fetch(origin), expected);
  }
  long.close();
  long.closeAllConnections();
}));

test("a rate that is used up falls back to work", () => world(async ({ pair }) => {
  const any = "[issuer]\ngate = \"e\"\n[gates.e]\nkind = \"any\"\nof = [\"r\", \"pow\"]\n";
  const rate = "[gates.r]\nkind = \"rate\"\nlimit = 1\nperiod = 100000\n";
  const { issuer, origin } = await pair(any + rate + POW(2));
  for (let i = 0; i < 2; i++) assert.equal((await new Visitor({ issuer: issuer.url }).fetch(origin)).status, 200);
}));

test("a visitor that cannot pass the gate gets an error", () => world(async ({ pair }) => {
  const { issuer, origin } = await pair("[issuer]\ngate = \"f\"\n[gates.f]\nkind = \"invitation\"\n");
  const refused = (kind) => (error) => error instanceof Refused && error.kind === kind;
  await assert.rejects(new Visitor({ issuer: issuer.url }).fetch(origin), refused("gate-required"));
  const proofs = { f: "AAAA" };
  await assert.rejects(new Visitor({ issuer: issuer.url, proofs }).fetch(origin), refused("gate-refused"));
}));
