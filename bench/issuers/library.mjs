// Cloudflare's library for Privacy Pass, with the quicker of its two providers of curves: the one
// that it takes by itself issues a quarter as many tokens.

import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The library that npm installed in `directory`. */
export async function library(directory) {
  const require = createRequire(resolve(directory, "package.json"));
  const { Oprf } = require("@cloudflare/voprf-ts");
  // The library reads the provider when it is loaded.
  Oprf.Crypto = require("@cloudflare/voprf-ts/crypto-noble").CryptoNoble;
  return import(pathToFileURL(resolve(directory, "node_modules/@cloudflare/privacypass-ts/lib/src/index.js")));
}
