/**
 * `<sealstone-pass src="/session" issuer="https://issuer.example" next="/">`: lets a visitor in.
 *
 * `src` wants a token; when it has answered, the page goes to `next`, if there is one. Attributes:
 * `auto` begins at once, `batch` is the number of tokens to get at a time. Events: `sealstone-pass`
 * with the answer in `detail`, `sealstone-error` with the error. Set `proofs` for gates that want
 * more than work.
 */

import { Refused } from "./issuer.js";
import { Visitor, type Step, type VisitorOptions } from "./visitor.js";
import type { Progress } from "./work.js";

const STYLE = `
:host {
  color-scheme: light dark;
  --ink: light-dark(#1d2228, #e8e6e1);
  --soft: light-dark(#5a636d, #a3abb5);
  --card: light-dark(#ffffff, #1d2127);
  --line: light-dark(#d8d6cf, #363c45);
  --accent: light-dark(#1f5d8c, #7fb8e6);
  --on-accent: light-dark(#ffffff, #10161c);
  --bad: light-dark(#a3262a, #f19a95);
  display: block;
  color: var(--ink);
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: .5rem;
  padding: 1rem;
  font: 1rem/1.5 system-ui, sans-serif;
}
[hidden] { display: none !important; }
p { margin: 0 0 .75rem; }
p:last-child { margin: 0; }
.bad { color: var(--bad); }
.hint { color: var(--soft); font-size: .9rem; }
progress { width: 100%; height: .9rem; accent-color: var(--accent); margin: 0 0 .75rem; display: block; }
button {
  font: inherit; color: inherit; background: none; cursor: pointer;
  border: 1px solid var(--soft); border-radius: .35rem; padding: .45rem 1.1rem; min-height: 2.75rem;
}
button.first { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

const WORDS: Record<Step, string> = {
  asking: "Asking whether a token is needed…",
  working: "Your device does a small piece of work. This keeps out robots, and asks nothing about you.",
  issuing: "A token has arrived…",
  redeeming: "Showing the token…",
};

const READY = "To go on, your device proves that it is not one of many robots. Nothing about you is sent.";

/** `HTMLElement` does not exist in node, where this module can be loaded too. */
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

export class SealstonePass extends Base {
  /** Proofs for gates that want more than work. */
  proofs: VisitorOptions["proofs"];
  #stop: AbortController | undefined;
  #parts: { text: HTMLElement; bar: HTMLProgressElement; hint: HTMLElement; begin: HTMLButtonElement; stop: HTMLButtonElement } | undefined;

  connectedCallback(): void {
    this.#build();
    if (this.hasAttribute("auto")) void this.begin();
  }

  disconnectedCallback(): void {
    this.#stop?.abort();
  }

  /** Begins, as the button does. */
  async begin(): Promise<void> {
    if (this.#stop) return;
    const stop = (this.#stop = new AbortController());
    this.#show(WORDS.asking, true);
    try {
      const answer = await this.#visitor().fetch(this.getAttribute("src") ?? "", {}, {
        signal: stop.signal,
        onStep: (step) => this.#show(WORDS[step], true),
        onProgress: (progress) => this.#progress(progress),
      });
      if (!answer.ok) throw new Refused(answer.status, { detail: `The page answered with ${answer.status}.` });
      this.#done(answer);
    } catch (error) {
      this.#failed(error, stop.signal.aborted);
    } finally {
      this.#stop = undefined;
    }
  }

  /** Gives up, as the button does. */
  stop(): void {
    this.#stop?.abort();
  }

  #visitor(): Visitor {
    return new Visitor({
      issuer: this.getAttribute("issuer") ?? undefined,
      batch: Number(this.getAttribute("batch") ?? 1),
      proofs: this.proofs,
    });
  }

  #build(): void {
    if (this.#parts) return;
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    const make = <K extends keyof HTMLElementTagNameMap>(name: K, text: string) =>
      Object.assign(document.createElement(name), { textContent: text });
    const text = make("p", READY);
    // Says each step once, and not each per cent.
    text.setAttribute("role", "status");
    const bar = make("progress", "");
    bar.max = 1;
    bar.setAttribute("aria-label", "Progress of the work");
    const hint = make("p", "");
    hint.className = "hint";
    const begin = make("button", "Let me in");
    begin.type = "button";
    begin.className = "first";
    begin.addEventListener("click", () => void this.begin());
    const stop = make("button", "Give up");
    stop.type = "button";
    stop.addEventListener("click", () => this.stop());
    for (const part of [bar, hint, stop]) part.hidden = true;
    const buttons = make("p", "");
    buttons.append(begin, stop);
    root.append(text, bar, hint, buttons);
    this.#parts = { text, bar, hint, begin, stop };
  }

  #show(words: string, isBusy: boolean, isBad = false): void {
    const parts = this.#parts;
    if (!parts) return;
    if (parts.text.textContent !== words) parts.text.textContent = words;
    parts.text.classList.toggle("bad", isBad);
    parts.bar.hidden = parts.hint.hidden = !isBusy;
    const hadFocus = this.shadowRoot?.activeElement;
    parts.begin.hidden = isBusy;
    parts.stop.hidden = !isBusy;
    // The focus stays where it was.
    if (hadFocus === parts.begin && isBusy) parts.stop.focus();
    if (hadFocus === parts.stop && !isBusy) parts.begin.focus();
    if (!isBusy) {
      parts.bar.removeAttribute("value");
      parts.hint.textContent = "";
    }
  }

  #progress({ tried, expected, likely }: Progress): void {
    const parts = this.#parts;
    if (!parts) return;
    parts.bar.value = likely;
    const number = (value: number) => value.toLocaleString(undefined, { maximumFractionDigits: 0 });
    parts.hint.textContent = `${number(tried)} tries of about ${number(expected)}`;
  }

  #done(answer: Response): void {
    this.#show("You are in.", false);
    if (this.#parts) this.#parts.begin.hidden = true;
    this.dispatchEvent(new CustomEvent("sealstone-pass", { detail: answer, bubbles: true, composed: true }));
    const next = this.getAttribute("next");
    if (next === null) return;
    const url = new URL(next, location.href);
    if (url.origin === location.origin) location.assign(url);
  }

  #failed(error: unknown, isGivenUp: boolean): void {
    if (isGivenUp) return this.#show("You gave up. Nothing is lost: you can begin again.", false);
    const text = error instanceof Refused ? error.message : "The connection failed.";
    this.#show(`This did not work. ${text}`, false, true);
    this.dispatchEvent(new CustomEvent("sealstone-error", { detail: error, bubbles: true, composed: true }));
  }
}

if (globalThis.customElements && !customElements.get("sealstone-pass")) {
  customElements.define("sealstone-pass", SealstonePass);
}
