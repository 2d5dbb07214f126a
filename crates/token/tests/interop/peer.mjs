// Cloudflare's library for Privacy Pass as a client, or as an issuer with its origin. Its tests
// call it, in crates/token/tests/privacypass_interop.rs.
//
// It reads one JSON object per line and answers each with one: the result, or `error`. Bytes are
// hexadecimal, challenges and tokens are values of HTTP headers.
//
// usage: node peer.mjs DIRECTORY   (the one in which npm installed package.json's dependencies)

import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const library = join(process.argv[2], 'node_modules/@cloudflare/privacypass-ts/lib/src/index.js');
const pass = await import(pathToFileURL(library));

const PSS = pass.publicVerif.BlindRSAMode.PSS;
const ISSUER = 'issuer.example';
const ORIGINS = ['origin.example', 'other.example'];

const hex = (bytes) => Buffer.from(bytes).toString('hex');
const bytes = (text) => new Uint8Array(Buffer.from(text, 'hex'));

/** The differences between the two types of token. */
const TYPES = {
    [pass.TOKEN_TYPES.VOPRF.value]: {
        entry: pass.TOKEN_TYPES.VOPRF,
        client: () => new pass.privateVerif.Client(),
        origin: () => new pass.privateVerif.Origin(ORIGINS),
        request: (message) => pass.privateVerif.TokenRequest.deserialize(message),
        async issuer() {
            const { privateKey, publicKey } = await pass.privateVerif.keyGen();
            const issuer = new pass.privateVerif.Issuer(ISSUER, privateKey, publicKey);
            return { issuer, publicBytes: publicKey, verifyingKey: privateKey };
        },
    },
    [pass.TOKEN_TYPES.BLIND_RSA.value]: {
        entry: pass.TOKEN_TYPES.BLIND_RSA,
        client: () => new pass.publicVerif.Client(PSS),
        origin: () => new pass.publicVerif.Origin(PSS, ORIGINS),
        request: (message) =>
            pass.publicVerif.TokenRequest.deserialize(pass.TOKEN_TYPES.BLIND_RSA, message),
        async issuer() {
            const { privateKey, publicKey } = await pass.publicVerif.Issuer.generateKey(PSS, {
                modulusLength: 2048,
                publicExponent: Uint8Array.from([1, 0, 1]),
            });
            const issuer = new pass.publicVerif.Issuer(PSS, ISSUER, privateKey, publicKey);
            const publicBytes = await pass.publicVerif.getPublicKeyBytes(publicKey);
            return { issuer, publicBytes, verifyingKey: publicKey };
        },
    },
};

const state = {};

const COMMANDS = {
    // The client.
    async request({ header }) {
        const [offer] = pass.WWWAuthenticateHeader.parse(header);
        state.client = TYPES[offer.challenge.tokenType].client();
        const request = await state.client.createTokenRequest(offer.challenge, offer.tokenKey);
        return { request: hex(request.serialize()) };
    },
    async finalize({ response }) {
        const message = state.client.deserializeTokenResponse(bytes(response));
        const token = await state.client.finalize(message);
        return { header: new pass.AuthorizationHeader(token).toString() };
    },
    // The issuer and the origin.
    async challenge({ type, context }) {
        Object.assign(state, { type: TYPES[type] }, await TYPES[type].issuer());
        const challenge = state.type.origin().createTokenChallenge(ISSUER, bytes(context));
        const header = new pass.WWWAuthenticateHeader(challenge, state.publicBytes, 60);
        return { header: header.toString(true) };
    },
    async issue({ request }) {
        const response = await state.issuer.issue(state.type.request(bytes(request)));
        return { response: hex(response.serialize()) };
    },
    async verify({ header }) {
        const [{ token }] = pass.AuthorizationHeader.parse(state.type.entry, header);
        return { valid: await state.type.origin().verify(token, state.verifyingKey) };
    },
};

for await (const line of createInterface({ input: process.stdin })) {
    const { command, ...values } = JSON.parse(line);
    const failed = (error) => ({ error: String(error) });
    console.log(JSON.stringify(await COMMANDS[command](values).catch(failed)));
}
