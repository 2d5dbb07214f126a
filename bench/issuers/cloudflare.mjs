// Cloudflare's library for Privacy Pass behind node's HTTP server, for bench/issuers.mjs: both
// types of RFC 9578, keys in memory, no gate. When it is ready, it prints one JSON line with its
// URL.
//
// usage: node cloudflare.mjs DIRECTORY   (where scripts/test-interop installed the library)

import { createServer } from "node:http";
import { library } from "./library.mjs";

const pass = await library(process.argv[2]);
const { privateVerif, publicVerif, TOKEN_TYPES } = pass;
const PSS = publicVerif.BlindRSAMode.PSS;

const base64 = (bytes) => Buffer.from(bytes).toString("base64url");

/** An issuer of each type, with what reads its requests. */
async function issuers() {
  const voprf = await privateVerif.keyGen();
  const rsa = await publicVerif.Issuer.generateKey(PSS, { modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) });
  return {
    [TOKEN_TYPES.VOPRF.value]: {
      key: voprf.publicKey,
      issuer: new privateVerif.Issuer("bench", voprf.privateKey, voprf.publicKey),
      read: (body) => privateVerif.TokenRequest.deserialize(body),
    },
    [TOKEN_TYPES.BLIND_RSA.value]: {
      key: await publicVerif.getPublicKeyBytes(rsa.publicKey),
      issuer: new publicVerif.Issuer(PSS, "bench", rsa.privateKey, rsa.publicKey),
      read: (body) => publicVerif.TokenRequest.deserialize(TOKEN_TYPES.BLIND_RSA, body),
    },
  };
}

const types = await issuers();
const keys = Object.entries(types).map(([type, { key }]) => ({ "token-type": Number(type), "token-key": base64(key) }));
const directory = JSON.stringify({ "issuer-request-uri": "/token-request", "token-keys": keys });

async function answer(request, response) {
  if (request.method === "GET") {
    response.setHeader("content-type", "application/private-token-issuer-directory");
    return response.end(directory);
  }
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Uint8Array.from(Buffer.concat(parts));
  const { issuer, read } = types[(body[0] << 8) | body[1]];
  const issued = (await issuer.issue(read(body))).serialize();
  response.setHeader("content-type", "application/private-token-response");
  response.setHeader("content-length", issued.length);
  response.end(issued);
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(422).end());
});
// A request that waits its turn for seconds is no reason to end its connection.
server.keepAliveTimeout = server.requestTimeout = server.headersTimeout = 0;
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })));
