/** Gates of an issuer: which proofs to show, and how to get them (spec/service.md, "Gates"). */

import { fromBase64url, type Bytes } from "./bytes.js";
import { canCreate, createCredential } from "./credential.js";
import type { Work } from "./search.js";
import { solve, type SolveOptions } from "./work.js";

/** A gate as the issuer describes it. Kinds that are unknown here have other members. */
export interface Gate {
  kind: string;
  name?: string;
  of?: Gate[];
  threshold?: number;
  challenge?: string;
  algorithm?: string;
  bits?: number;
  passes?: number;
  [member: string]: unknown;
}

/** The request that a proof is bound to. */
export interface Ask {
  /** SHA-256 of the request, or of all digests of a batch. */
  subject: Bytes;
  tokens: number;
}

/** Gets a proof for a gate that only the embedding page can pass, such as an attestation. */
export type Provider = (gate: Gate, ask: Ask) => Promise<string> | string;

export interface GateOptions extends SolveOptions {
  /** Proofs by the name of their gate: a text such as an invitation, or what gets one. */
  proofs?: Record<string, string | Provider> | undefined;
}

/** The gates that will be shown a proof, and about how much trouble that is. */
interface Plan {
  gates: Gate[];
  cost: number;
}

/** Free, a text that is there, what the page has to get, work, what the visitor has to do. */
const COST = { free: 0, have: 1, ask: 10, work: 100, touch: 1000 };

/** The least troublesome way through a gate; none if there is no way. */
export function plan(gate: Gate, options: GateOptions, without: ReadonlySet<string> = new Set()): Plan | null {
  if (without.has(gate.kind)) return null;
  if (gate.of) return planParts(gate.of, wanted(gate, gate.of), options, without);
  const own = gate.name === undefined ? undefined : options.proofs?.[gate.name];
  if (own !== undefined) return { gates: [gate], cost: typeof own === "string" ? COST.have : COST.ask };
  switch (gate.kind) {
    case "none":
    case "rate":
      return { gates: [], cost: COST.free };
    case "pow":
      return { gates: [gate], cost: COST.work };
    case "webauthn":
      return canCreate() ? { gates: [gate], cost: COST.touch } : null;
    default:
      return null;
  }
}

function wanted(gate: Gate, parts: Gate[]): number {
  if (gate.kind === "any") return 1;
  return gate.kind === "at-least" ? (gate.threshold ?? parts.length) : parts.length;
}

function planParts(parts: Gate[], count: number, options: GateOptions, without: ReadonlySet<string>): Plan | null {
  const plans = parts.map((part) => plan(part, options, without)).filter((found) => found !== null);
  if (plans.length < count) return null;
  const chosen = plans.sort((a, b) => a.cost - b.cost).slice(0, count);
  return {
    gates: chosen.flatMap((found) => found.gates),
    cost: chosen.reduce((sum, found) => sum + found.cost, 0),
  };
}

/** Kinds of the gate and of all within it. */
export function kinds(gate: Gate): string[] {
  return [gate.kind, ...(gate.of ?? []).flatMap(kinds)];
}

/** The values of `Sealstone-Gate` for these gates, one after the other. */
export async function prove(gates: Gate[], ask: Ask, options: GateOptions): Promise<string[]> {
  const proofs: string[] = [];
  for (const gate of gates) {
    options.signal?.throwIfAborted();
    proofs.push(`${gate.name} ${await proveOne(gate, ask, options)}`);
  }
  return proofs;
}

async function proveOne(gate: Gate, ask: Ask, options: GateOptions): Promise<string> {
  const own = options.proofs?.[gate.name ?? ""];
  if (typeof own === "string") return own;
  if (own) return own(gate, ask);
  if (gate.kind === "webauthn") return createCredential(gate, ask, options.signal);
  return `${gate.challenge}.${await solve(workOf(gate, ask), options)}`;
}

/** ⌈log2 n⌉: a request for n tokens costs n times as much. */
function batchBits(tokens: number): number {
  return Math.ceil(Math.log2(tokens));
}

/** The work that a gate asks for. */
export function workOf(gate: Gate, { subject, tokens }: Ask): Work {
  const { algorithm, challenge, bits } = gate;
  if ((algorithm !== "sha256" && algorithm !== "argon2id") || challenge === undefined || bits === undefined) {
    throw new Error(`the gate ${gate.name} asks for work that is unknown here`);
  }
  return {
    algorithm,
    challenge: fromBase64url(challenge),
    subject,
    bits: bits + batchBits(tokens),
    memoryKib: Number(gate["memory-kib"] ?? 0),
    passes: Number(gate.passes ?? 0),
  };
}
