// A client of the service that shares no code with it: Cloudflare's library for Privacy Pass, and
// the proof of work written from spec/service.md. crates/server/tests/service/interop.rs calls it.
//
// usage: node client.mjs DIRECTORY ISSUER ORIGIN TYPE
//   DIRECTORY: where npm installed crates/token/tests/interop/package.json's dependencies
//   ORIGIN: a URL that wants a token of this type
// It prints the statuses of two redemptions of one token.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [directory, issuer, origin, type] = process.argv.slice(2);
const library = join(directory, 'node_modules/@cloudflare/privacypass-ts/lib/src/index.js');
const pass = await import(pathToFileURL(library));

const CLIENTS = {
    [pass.TOKEN_TYPES.VOPRF.value]: () => new pass.privateVerif.Client(),
    [pass.TOKEN_TYPES.BLIND_RSA.value]: () =>
        new pass.publicVerif.Client(pass.publicVerif.BlindRSAMode.PSS),
};

const sha256 = (...parts) => {
    const hash = createHash('sha256');
    parts.forEach((part) => hash.update(part));
    return hash.digest();
};

const leadingZeros = (digest) => {
    const byte = digest.findIndex((value) => value !== 0);
    return byte < 0 ? 256 : 8 * byte + Math.clz32(digest[byte]) - 24;
};

/** The value of a header Sealstone-Gate for a request for one token. */
function work(gate, body) {
    const challenge = Buffer.from(gate.challenge, 'base64url');
    const subject = sha256(body);
    const counter = Buffer.alloc(8);
    for (let n = 0n; ; n++) {
        counter.writeBigUInt64BE(n);
        if (leadingZeros(sha256(challenge, subject, counter)) >= gate.bits) {
            return `${gate.name} ${gate.challenge}.${n}`;
        }
    }
}

/** The first offer of the wanted type. */
async function challenged() {
    const answer = await fetch(origin);
    const offers = pass.WWWAuthenticateHeader.parse(answer.headers.get('www-authenticate'));
    return offers.find((offer) => offer.challenge.tokenType === Number(type));
}

const offer = await challenged();
const wellKnown = new URL('/.well-known/private-token-issuer-directory', issuer);
const answer = await fetch(wellKnown);
if (answer.headers.get('content-type') !== 'application/private-token-issuer-directory') {
    throw new Error('another media type');
}
const published = await answer.json();
const key = published['token-keys'].find((entry) => entry['token-type'] === Number(type));
if (!Buffer.from(key['token-key'], 'base64url').equals(Buffer.from(offer.tokenKey))) {
    throw new Error('the origin names another key than the directory');
}

const client = CLIENTS[type]();
const request = await client.createTokenRequest(offer.challenge, offer.tokenKey);
const body = Buffer.from(request.serialize());
const url = new URL(published['issuer-request-uri'], issuer);
const headers = { 'content-type': 'application/private-token-request' };
const post = (more) => fetch(url, { method: 'POST', headers: { ...headers, ...more }, body });

const refused = await post({});
const { gate } = await refused.json();
const issued = await post({ 'sealstone-gate': work(gate, body) });
if (issued.headers.get('content-type') !== 'application/private-token-response') {
    throw new Error(`the issuer refused: ${await issued.text()}`);
}
const response = client.deserializeTokenResponse(new Uint8Array(await issued.arrayBuffer()));
const token = await client.finalize(response);
const authorization = new pass.AuthorizationHeader(token).toString();
for (let attempt = 0; attempt < 2; attempt++) {
    console.log((await fetch(origin, { headers: { authorization } })).status);
}
