/** Proof of work in Web Workers, so that the page stays responsive; without them in this thread. */

import type { Work } from "./search.js";
import type { Order, Report } from "./worker.js";

/** How far a search is. On average `expected` counters have to be tried; luck decides. */
export interface Progress {
  tried: number;
  expected: number;
  /** The chance that a search of this length has ended, 0 to 1. */
  likely: number;
}

export interface SolveOptions {
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Gives up. */
  signal?: AbortSignal | undefined;
  /** The most workers; by default half of the processors, at most 4. */
  workers?: number | undefined;
}

const MOST_WORKERS = 4;

/** The counter that does the work, in decimal. */
export async function solve(work: Work, options: SolveOptions = {}): Promise<string> {
  options.signal?.throwIfAborted();
  return typeof Worker === "undefined" ? searchHere(work, options) : searchInWorkers(work, options);
}

function progress(work: Work, tried: number): Progress {
  const expected = 2 ** work.bits;
  return { tried, expected, likely: 1 - Math.exp(-tried / expected) };
}

async function searchHere(work: Work, { onProgress, signal }: SolveOptions): Promise<string> {
  const { Search } = await import("./search.js");
  const search = await Search.begin(work);
  for (;;) {
    const found = search.run();
    onProgress?.(progress(work, search.tried));
    if (found !== null) return String(found);
    await new Promise((resolve) => setTimeout(resolve));
    signal?.throwIfAborted();
  }
}

function workerCount(wanted: number | undefined): number {
  const processors = globalThis.navigator?.hardwareConcurrency ?? 2;
  return Math.max(1, wanted ?? Math.min(Math.ceil(processors / 2), MOST_WORKERS));
}

function searchInWorkers(work: Work, { onProgress, signal, workers }: SolveOptions): Promise<string> {
  const step = workerCount(workers);
  const tried = new Array<number>(step).fill(0);
  const started: Worker[] = [];
  const searching = new Promise<string>((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    for (let start = 0; start < step; start++) {
      const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
      started.push(worker);
      worker.onerror = () => reject(new Error("the worker for the proof of work did not start"));
      worker.onmessage = ({ data }: MessageEvent<Report>) => {
        if ("error" in data) return reject(new Error(data.error));
        tried[start] = data.tried;
        onProgress?.(progress(work, tried.reduce((sum, n) => sum + n, 0)));
        if (data.found !== undefined) resolve(data.found);
      };
      worker.postMessage({ work, start, step } satisfies Order);
    }
  });
  return searching.finally(() => started.forEach((worker) => worker.terminate()));
}
