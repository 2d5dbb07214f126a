/** Runs in a Web Worker: searches, and tells how far it is. */

import { Search, type Work } from "./search.js";

/** The message of the page, sent once. */
export interface Order {
  work: Work;
  start: number;
  step: number;
}

/** A message of the worker, which sends several. */
export type Report = { tried: number; found?: string } | { error: string };

const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent<Order>) => void) | null;
  postMessage(report: Report): void;
};

scope.onmessage = async ({ data }) => {
  try {
    const search = await Search.begin(data.work, data.start, data.step);
    for (;;) {
      const found = search.run();
      if (found !== null) return scope.postMessage({ tried: search.tried, found: String(found) });
      scope.postMessage({ tried: search.tried });
    }
  } catch (error) {
    scope.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
};
