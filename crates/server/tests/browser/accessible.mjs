// Accessibility of a page, as far as a program can check it.

/** Runs in the page: elements without a name, text without contrast (WCAG 2.2 AA), landmarks. */
export function findIssues(wanted = ["header", "main", "nav", "h1"]) {
  const found = [];
  // Those in the shadow trees of our elements too.
  const all = (selector, root = document) =>
    [...root.querySelectorAll(selector)].concat(
      ...[...root.querySelectorAll("*")].filter((e) => e.shadowRoot).map((e) => all(selector, e.shadowRoot)),
    );
  const above = (e) => e.parentElement ?? e.getRootNode().host;
  const shown = (e) => e.getClientRects().length > 0;
  for (const e of all("input, select, button, a")) {
    const name = e.labels?.[0]?.textContent || e.getAttribute("aria-label") || e.textContent.trim();
    if (shown(e) && !name) found.push(`${e.tagName}#${e.id} has no name`);
  }
  for (const e of wanted) {
    if (document.querySelectorAll(e).length !== 1) found.push(`not one ${e}`);
  }
  if (!document.documentElement.lang) found.push("no language");
  const channels = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const background = (e) => {
    for (; e; e = above(e)) {
      const color = channels(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  for (const e of all("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !shown(e) || e.closest("svg, head")) continue;
    const [a, b] = [light(channels(getComputedStyle(e).color)), light(background(e))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(`${e.tagName}#${e.id} ${e.className}: contrast ${contrast.toFixed(2)}`);
  }
  return found;
}
