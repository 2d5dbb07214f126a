/** Where a visitor keeps tokens. A token is removed when an origin has answered, never before. */

/** A token that waits to be redeemed. */
export interface StoredToken {
  /** A name of its own. */
  id: string;
  /** SHA-256 of the challenge that it is for, in base64url. */
  challenge: string;
  /** The token, in base64url. */
  token: string;
  /** When no verifier takes it any more, in seconds since 1970. */
  until?: number | undefined;
}

export interface TokenStore {
  add(tokens: StoredToken[]): Promise<void>;
  /** The tokens for a challenge. */
  list(challenge: string): Promise<StoredToken[]>;
  remove(id: string): Promise<void>;
  /**
   * Runs `work` if nobody else, in this or another tab, works with this name; else returns null.
   * A page that is left gives its names back.
   */
  exclusively<T>(id: string, work: () => Promise<T>): Promise<T | null>;
}

/** Forgets all with the page. */
export class MemoryStore implements TokenStore {
  readonly #tokens = new Map<string, StoredToken>();
  readonly #busy = new Set<string>();

  async add(tokens: StoredToken[]): Promise<void> {
    for (const token of tokens) this.#tokens.set(token.id, token);
  }

  async list(challenge: string): Promise<StoredToken[]> {
    return [...this.#tokens.values()].filter((token) => token.challenge === challenge);
  }

  async remove(id: string): Promise<void> {
    this.#tokens.delete(id);
  }

  async exclusively<T>(id: string, work: () => Promise<T>): Promise<T | null> {
    if (this.#busy.has(id)) return null;
    this.#busy.add(id);
    try {
      return await work();
    } finally {
      this.#busy.delete(id);
    }
  }
}

const TABLE = "tokens";

/** Keeps tokens in the browser's IndexedDB, for all tabs of this origin. */
export class BrowserStore implements TokenStore {
  readonly #name: string;
  #opened: Promise<IDBDatabase> | undefined;

  constructor(name = "sealstone") {
    this.#name = name;
  }

  async add(tokens: StoredToken[]): Promise<void> {
    await this.#run("readwrite", (table) => {
      for (const token of tokens) table.put(token);
    });
  }

  async list(challenge: string): Promise<StoredToken[]> {
    return (await this.#run("readonly", (table) => table.index("challenge").getAll(challenge))) as StoredToken[];
  }

  async remove(id: string): Promise<void> {
    await this.#run("readwrite", (table) => {
      table.delete(id);
    });
  }

  async exclusively<T>(id: string, work: () => Promise<T>): Promise<T | null> {
    const name = `${this.#name}-${id}`;
    return navigator.locks.request(name, { ifAvailable: true }, async (lock) => (lock ? work() : null)) as Promise<T | null>;
  }

  /** One transaction; its result is durable as far as the browser goes. */
  async #run(mode: IDBTransactionMode, work: (table: IDBObjectStore) => IDBRequest | void): Promise<unknown> {
    const database = await (this.#opened ??= open(this.#name));
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(TABLE, mode);
      const request = work(transaction.objectStore(TABLE));
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  }
}

function open(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(TABLE, { keyPath: "id" }).createIndex("challenge", "challenge");
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
