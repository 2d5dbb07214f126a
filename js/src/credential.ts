/** Makes a credential of WebAuthn for a gate (spec/service.md, "WebAuthn"). */

import { concat, fromBase64url, sha256, toBase64url } from "./bytes.js";
import type { Ask, Gate } from "./gate.js";

const LABEL = new TextEncoder().encode("sealstone.service.webauthn.challenge\0");

/** Whether this page can ask an authenticator. */
export function canCreate(): boolean {
  return typeof PublicKeyCredential !== "undefined" && Boolean(globalThis.navigator?.credentials);
}

/** The challenge for the authenticator: it binds the credential to the request. */
export async function boundChallenge(challenge: string, subject: Uint8Array) {
  return sha256(concat(LABEL, fromBase64url(challenge), subject));
}

/**
 * Asks the visitor for a touch, or more, and returns the proof. The credential is for this one
 * request: nobody asks for it again.
 */
export async function createCredential(gate: Gate, { subject }: Ask, signal?: AbortSignal): Promise<string> {
  const { challenge, algorithms, "rp-id": id } = gate;
  if (challenge === undefined || typeof id !== "string" || !Array.isArray(algorithms)) {
    throw new Error(`the gate ${gate.name} asks for a credential that is unknown here`);
  }
  const publicKey: PublicKeyCredentialCreationOptions = {
    challenge: await boundChallenge(challenge, subject),
    rp: { id, name: id },
    // The visitor stays unknown.
    user: { id: crypto.getRandomValues(new Uint8Array(16)), name: "visitor", displayName: "Visitor" },
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg: Number(alg) })),
    attestation: gate.attestation === true ? "direct" : "none",
    authenticatorSelection: {
      residentKey: "discouraged",
      userVerification: gate["user-verification"] === true ? "required" : "discouraged",
    },
  };
  const made = await navigator.credentials.create({ publicKey, ...(signal && { signal }) });
  const response = (made as PublicKeyCredential | null)?.response as AuthenticatorAttestationResponse | undefined;
  if (!response) throw new Error("the authenticator made no credential");
  const parts = [response.clientDataJSON, response.attestationObject];
  return [challenge, ...parts.map((part) => toBase64url(new Uint8Array(part)))].join(".");
}
