/** The search for a counter: crates/work as WebAssembly. */

import bytes from "sealstone-work.wasm";

/** The work that a gate asks for. */
export interface Work {
  algorithm: "sha256" | "argon2id";
  challenge: Uint8Array;
  /** SHA-256 of the request. */
  subject: Uint8Array;
  /** Leading zero bits. */
  bits: number;
  /** Argon2id's memory in KiB; 0 for SHA-256. */
  memoryKib: number;
  /** Argon2id's passes. */
  passes: number;
}

interface Exports {
  clear(): void;
  put(byte: number): void;
  begin(bits: number, memory: number, passes: number): number;
  search(from: bigint, step: number, tries: number): bigint;
}

const NONE = 2n ** 64n - 1n;
/** Milliseconds between two reports of progress. */
const PAUSE = 100;

/** A search in this thread. */
export class Search {
  readonly #exports: Exports;
  readonly #start: number;
  readonly #step: number;
  #tried = 0;
  #tries: number;

  private constructor(exports: Exports, work: Work, start: number, step: number) {
    this.#exports = exports;
    this.#start = start;
    this.#step = step;
    this.#tries = work.algorithm === "sha256" ? 1024 : 1;
    exports.clear();
    for (const byte of work.challenge) exports.put(byte);
    for (const byte of work.subject) exports.put(byte);
    const memory = work.algorithm === "sha256" ? 0 : work.memoryKib;
    const code = exports.begin(work.bits, memory, work.passes);
    if (code === 2) throw new Error("this device has not enough memory for the proof of work");
    if (code !== 0) throw new Error("the gate asks for work that is not possible");
  }

  /** Worker number `start` of `step` workers. */
  static async begin(work: Work, start = 0, step = 1): Promise<Search> {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Search(instance.exports as unknown as Exports, work, start, step);
  }

  /** How many counters were tried. */
  get tried(): number {
    return this.#tried;
  }

  /** Searches for about a tenth of a second. */
  run(): bigint | null {
    const from = BigInt(this.#start) + BigInt(this.#tried) * BigInt(this.#step);
    const begun = performance.now();
    const found = BigInt.asUintN(64, this.#exports.search(from, this.#step, this.#tries));
    const took = performance.now() - begun;
    this.#tried += this.#tries;
    const fitting = Math.round((this.#tries * PAUSE) / Math.max(took, 0.1));
    this.#tries = Math.min(Math.max(fitting, 1), 8 * this.#tries, 2 ** 24);
    return found === NONE ? null : found;
  }
}
