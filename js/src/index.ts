/**
 * The visitor's side of Sealstone's anonymous tokens.
 *
 * ```ts
 * const visitor = new Visitor({ issuer: "https://issuer.example" });
 * const answer = await visitor.fetch("/article", {}, { onProgress: ({ likely }) => show(likely) });
 * ```
 */

export { Visitor, type FetchOptions, type Step, type VisitorOptions } from "./visitor.js";
export { Refused } from "./issuer.js";
export { BrowserStore, MemoryStore, type StoredToken, type TokenStore } from "./store.js";
export { solve, type Progress, type SolveOptions } from "./work.js";
export { plan, workOf, type Ask, type Gate, type GateOptions, type Provider } from "./gate.js";
export { type Work } from "./search.js";
