/** Fetches what wants a token: asks, gets a token, redeems it. */

import { WWWAuthenticateHeader } from "@cloudflare/privacypass-ts";
import { sha256, toBase64url } from "./bytes.js";
import type { GateOptions } from "./gate.js";
import { Issuer, isKnown } from "./issuer.js";
import { BrowserStore, MemoryStore, type StoredToken, type TokenStore } from "./store.js";
import type { Progress } from "./work.js";

/** The current step. */
export type Step = "asking" | "working" | "issuing" | "redeeming";

export interface VisitorOptions {
  /** The issuer's URL; by default the name in the challenge, with https. */
  issuer?: string | undefined;
  /** Where tokens are kept; by default in the browser, and in memory where there is none. */
  store?: TokenStore | undefined;
  /** The number of tokens to get with one proof, whose work grows in proportion. */
  batch?: number | undefined;
  /** The most workers for a proof of work. */
  workers?: number | undefined;
  /** Proofs by the name of their gate: a text such as an invitation, or what gets one. */
  proofs?: GateOptions["proofs"];
}

export interface FetchOptions {
  onStep?: (step: Step) => void;
  onProgress?: (progress: Progress) => void;
  /** Gives up. A token that was got stays in the store. */
  signal?: AbortSignal;
}

/** The most tries for one request, with tokens of the store and with new ones. */
const MOST_TRIES = 8;

export class Visitor {
  readonly #options: VisitorOptions;
  readonly #store: TokenStore;
  readonly #issuers = new Map<string, Issuer>();

  constructor(options: VisitorOptions = {}) {
    this.#options = options;
    const hasBrowser = typeof indexedDB !== "undefined" && Boolean(globalThis.navigator?.locks);
    this.#store = options.store ?? (hasBrowser ? new BrowserStore() : new MemoryStore());
  }

  /**
   * As `fetch`, for something that may want a token. It asks without one first, so that a visitor
   * whom the origin knows already, by a cookie, spends none.
   */
  async fetch(resource: string | URL, init: RequestInit = {}, options: FetchOptions = {}): Promise<Response> {
    options.onStep?.("asking");
    const asked = await fetch(resource, withSignal(init, options.signal));
    let offer = offerOf(asked);
    let answer = asked;
    for (let tries = 0; offer && tries < MOST_TRIES; tries++) {
      const id = toBase64url(await sha256(offer.challenge.serialize()));
      const shown = await this.#redeemOne(id, resource, init, options);
      if (shown) {
        answer = shown;
        offer = offerOf(shown);
        // Tokens of the store may be spent or of an old key; there is a new offer then.
        continue;
      }
      await this.#issue(offer, id, options);
    }
    return answer;
  }

  /** Gets tokens for the offer of an answer, for later. Returns how many are kept for it. */
  async prepare(answer: Response, options: FetchOptions = {}): Promise<number> {
    const offer = offerOf(answer);
    if (!offer) throw new Error("this answer wants no token that is known here");
    const id = toBase64url(await sha256(offer.challenge.serialize()));
    await this.#issue(offer, id, options);
    return (await this.#store.list(id)).length;
  }

  async #issue(offer: WWWAuthenticateHeader, challenge: string, options: FetchOptions): Promise<void> {
    const url = this.#options.issuer ?? `https://${offer.challenge.issuerName}`;
    const issuer = this.#issuers.get(url) ?? new Issuer(url);
    this.#issuers.set(url, issuer);
    options.onStep?.("working");
    const issued = await issuer.issue(offer, this.#options.batch ?? 1, {
      proofs: this.#options.proofs,
      workers: this.#options.workers,
      onProgress: options.onProgress,
      signal: options.signal,
    });
    options.onStep?.("issuing");
    const stored = issued.map(({ token, until }): StoredToken => ({ id: crypto.randomUUID(), challenge, token, until }));
    await this.#store.add(stored);
  }

  /** Shows a token of the store that nobody else shows now. */
  async #redeemOne(challenge: string, resource: string | URL, init: RequestInit, options: FetchOptions) {
    const now = Date.now() / 1000;
    for (const stored of await this.#store.list(challenge)) {
      if (stored.until !== undefined && stored.until <= now) {
        await this.#store.remove(stored.id);
        continue;
      }
      const show = () => this.#show(stored, resource, init, options);
      const shown = await this.#store.exclusively(stored.id, show);
      if (shown) return shown;
    }
    return null;
  }

  /** The token leaves the store when the origin has answered that it is of no more use. */
  async #show(stored: StoredToken, resource: string | URL, init: RequestInit, options: FetchOptions) {
    // Another tab may have redeemed it meanwhile.
    const still = await this.#store.list(stored.challenge);
    if (!still.some((token) => token.id === stored.id)) return null;
    options.onStep?.("redeeming");
    const headers = new Headers(init.headers);
    headers.set("authorization", `PrivateToken token="${padded(stored.token)}"`);
    const answer = await fetch(resource, withSignal({ ...init, headers }, options.signal));
    const isUndecided = answer.status >= 500 || answer.status === 429 || answer.status === 408;
    if (!isUndecided) await this.#store.remove(stored.id);
    return answer;
  }
}

/** With padding, as RFC 9577 has it. */
function padded(token: string): string {
  return token + "=".repeat((4 - (token.length % 4)) % 4);
}

function withSignal(init: RequestInit, signal: AbortSignal | undefined): RequestInit {
  return signal ? { ...init, signal } : init;
}

/** The first offer of an answer that is understood here. */
export function offerOf(answer: Response): WWWAuthenticateHeader | undefined {
  const value = answer.status === 401 ? answer.headers.get("www-authenticate") : null;
  if (!value) return undefined;
  try {
    const offers = WWWAuthenticateHeader.parse(value);
    return offers.find((offer) => isKnown(offer.challenge.tokenType) && offer.tokenKey.length > 0);
  } catch {
    return undefined;
  }
}

