// The page is the same for every site: what it needs stands in its address, or in page.json beside
// it: {"src": "/session", "issuer": "https://issuer.example", "auto": true}.

import "../element.js";

const element = document.querySelector("sealstone-pass");
const answer = await fetch(new URL("page.json", location.href));
const settings = answer.ok ? await answer.json() : {};
for (const name of ["src", "issuer", "batch"]) {
  if (settings[name] !== undefined) element.setAttribute(name, settings[name]);
}
// Where the visitor wanted to go. The element goes to this site only.
element.setAttribute("next", new URLSearchParams(location.search).get("next") ?? "/");
if (settings.auto) await element.begin();
