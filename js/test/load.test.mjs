// A hundred visitors at the same time, each with work of its own, against one issuer and one
// verifier.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Visitor } from "../dist/index.js";
import { world } from "./world.mjs";

const VISITORS = 100;
const TOKENS = 2;

test("a hundred visitors get and redeem tokens, and work each time", () => world(async ({ pair }) => {
  const { issuer, origin } = await pair("[gates.pow]\nkind = \"pow\"\nbits = 8\n");
  const begun = performance.now();
  let shown = 0;
  const onStep = (step) => (shown += step === "redeeming");
  const visit = async () => {
    const visitor = new Visitor({ issuer: issuer.url, batch: TOKENS });
    for (let i = 0; i < TOKENS; i++) assert.equal((await visitor.fetch(origin, {}, { onStep })).status, 200);
  };
  await Promise.all(Array.from({ length: VISITORS }, visit));
  assert.equal(shown, VISITORS * TOKENS, "no token was refused");
  const seconds = (performance.now() - begun) / 1000;
  console.log(`${VISITORS} visitors redeemed ${shown} tokens in ${seconds.toFixed(1)} s`);
}));
