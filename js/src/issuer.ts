/** An issuer: its directory, its gate, its answers to requests for tokens. */

import * as pass from "@cloudflare/privacypass-ts";
import { concat, fromBase64url, sha256, toBase64url, type Bytes } from "./bytes.js";
import { kinds, plan, prove, type Gate, type GateOptions } from "./gate.js";

/** A token as it was issued. */
export interface IssuedToken {
  /** The token, in base64url. */
  token: string;
  /** When no verifier takes it any more, in seconds since 1970. */
  until?: number | undefined;
}

interface Directory {
  "issuer-request-uri": string;
  "token-keys": DirectoryKey[];
}

/** Times are seconds since 1970. */
interface DirectoryKey {
  "token-type": number;
  "token-key": string;
  "not-before"?: number;
  "issue-until"?: number;
  "redeem-until"?: number;
}

/** The keys that a visitor may use: those of this epoch and of the one before. With a long list,
 * the origin could name another key to each visitor. */
function usableKeys(directory: Directory, type: number): DirectoryKey[] {
  const now = Date.now() / 1000;
  const issues = (key: DirectoryKey) => (key["not-before"] ?? 0) <= now && now < (key["issue-until"] ?? Infinity);
  return directory["token-keys"].filter((key) => key["token-type"] === type && issues(key)).slice(0, 2);
}

interface Problem {
  type?: string;
  detail?: string;
  title?: string;
  gate?: Gate;
}

/** A problem, in the words of the issuer or of an origin (RFC 9457). */
export class Refused extends Error {
  /** The last part of the problem's type, such as `gate-refused`. */
  readonly kind: string;
  readonly status: number;

  constructor(status: number, problem: Problem) {
    super(problem.detail ?? problem.title ?? `the answer has the status ${status}`);
    this.name = "Refused";
    this.status = status;
    this.kind = problem.type?.replace(/^urn:sealstone:problem:/, "") ?? "unknown";
  }
}

type Client = pass.privateVerif.Client | pass.publicVerif.Client;

const CLIENTS: Record<number, () => Client> = {
  [pass.TOKEN_TYPES.BLIND_RSA.value]: () => new pass.publicVerif.Client(pass.publicVerif.BlindRSAMode.PSS),
  [pass.TOKEN_TYPES.VOPRF.value]: () => new pass.privateVerif.Client(),
};

/** Whether tokens of this type can be got here. */
export function isKnown(tokenType: number): boolean {
  return tokenType in CLIENTS;
}

const WELL_KNOWN = "/.well-known/private-token-issuer-directory";
const ONE = "application/private-token-request";

export class Issuer {
  readonly #url: string;
  #directory: Promise<Directory> | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** `count` tokens for an offer. All are issued, or none. */
  async issue(offer: pass.WWWAuthenticateHeader, count: number, options: GateOptions): Promise<IssuedToken[]> {
    const until = await this.#redeemUntil(offer);
    const make = CLIENTS[offer.challenge.tokenType];
    if (!make) throw new Error("tokens of this type are unknown here");
    const clients = Array.from({ length: count }, make);
    const requests: Bytes[] = [];
    for (const client of clients) {
      const request = await client.createTokenRequest(offer.challenge, offer.tokenKey);
      requests.push(new Uint8Array(request.serialize()));
    }
    const responses = await this.#pass(requests, options);
    const finalize = async (client: Client, i: number): Promise<IssuedToken> => {
      // Each client takes the response of its own type; both check it.
      const response = client.deserializeTokenResponse(responses[i]!);
      const token = await client.finalize(response as never);
      return { token: toBase64url(token.serialize()), until };
    };
    return Promise.all(clients.map(finalize));
  }

  /** The origin's key must be the issuer's for everybody: another key would mark the visitor. */
  async #redeemUntil(offer: pass.WWWAuthenticateHeader): Promise<number | undefined> {
    const named = toBase64url(offer.tokenKey);
    for (const isAgain of [false, true]) {
      const keys = usableKeys(await this.#known(isAgain), offer.challenge.tokenType);
      const key = keys.find((key) => toBase64url(fromBase64url(key["token-key"])) === named);
      if (key) return key["redeem-until"];
    }
    throw new Error("the origin names a key that its issuer does not have");
  }

  #known(isAgain = false): Promise<Directory> {
    if (isAgain) this.#directory = undefined;
    this.#directory ??= this.#get(WELL_KNOWN).then((answer) => answer.json() as Promise<Directory>);
    // After a failure, the next call asks again.
    this.#directory.catch(() => (this.#directory = undefined));
    return this.#directory;
  }

  async #get(path: string): Promise<Response> {
    const answer = await fetch(new URL(path, this.#url), { credentials: "omit" });
    return checked(answer);
  }

  /** The responses to requests that pass the gate. */
  async #pass(requests: Bytes[], options: GateOptions): Promise<Bytes[]> {
    const digests = await Promise.all(requests.map(sha256));
    const subject = digests.length === 1 ? digests[0]! : await sha256(concat(...digests));
    const described = await this.#get("/gate");
    let { gate } = (await described.json()) as { gate: Gate };
    const without = new Set<string>();
    for (;;) {
      const way = plan(gate, options, without);
      if (!way) throw new Refused(401, { type: "gate-required", detail: "this visitor cannot pass the issuer's gate", gate });
      const proofs = await prove(way.gates, { subject, tokens: requests.length }, options);
      const answer = await this.#send(requests, proofs, options.signal);
      if (!(answer instanceof Refused)) return answer;
      // Another way, if a free one is used up.
      const isRate = answer.kind === "rate-limited" && kinds(gate).includes("rate") && !without.has("rate");
      if (!isRate) throw answer;
      without.add("rate");
      gate = ((await (await this.#get("/gate")).json()) as { gate: Gate }).gate;
      if (!plan(gate, options, without)) throw answer;
    }
  }

  async #send(requests: Bytes[], proofs: string[], signal?: AbortSignal): Promise<Bytes[] | Refused> {
    const isOne = requests.length === 1;
    const path = isOne ? (await this.#known())["issuer-request-uri"] : "/v1/issue/batch";
    const headers = new Headers({ "content-type": isOne ? ONE : "application/json" });
    if (isOne) proofs.forEach((proof) => headers.append("sealstone-gate", proof));
    const body = isOne ? requests[0]! : JSON.stringify({ requests: requests.map(toBase64url), proofs });
    const url = new URL(path, this.#url);
    const init = { method: "POST", headers, body, credentials: "omit" as const };
    const answer = await fetch(url, signal ? { ...init, signal } : init);
    if (!answer.ok) return new Refused(answer.status, await problemOf(answer));
    if (isOne) return [new Uint8Array(await answer.arrayBuffer())];
    const { responses } = (await answer.json()) as { responses: string[] };
    return responses.map(fromBase64url);
  }
}

async function problemOf(answer: Response): Promise<Problem> {
  return (await answer.json().catch(() => ({}))) as Problem;
}

async function checked(answer: Response): Promise<Response> {
  if (!answer.ok) throw new Refused(answer.status, await problemOf(answer));
  return answer;
}
