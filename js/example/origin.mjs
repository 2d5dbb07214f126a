// A small site that wants a token once for each visitor: what an origin has to do, in one file.
//
// It gives out the page and the module, asks its verifier about a token (as a proxy with
// auth_request would), and remembers the visitor by a cookie of its own. So a page that is loaded
// again costs no token.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8" };
/** Scripts and workers of this site only; the module compiles WebAssembly. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "frame-ancestors 'none'",
];

/** Starts the site. `settings` are those of the page (page/page.js). */
export function origin({ verifier, issuer, settings = {} }) {
  const sessions = new Set();
  const policy = [...POLICY, `connect-src 'self' ${issuer}`].join("; ");
  const isKnown = (request) => {
    const found = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? "");
    return found !== null && sessions.has(found[1]);
  };
  const routes = {
    "/session": async (request, response) => {
      if (isKnown(request)) return response.writeHead(204).end();
      const { authorization } = request.headers;
      const asked = await fetch(`${verifier}/verify`, { headers: authorization ? { authorization } : {} });
      if (asked.status !== 200) {
        const challenges = asked.headers.get("www-authenticate");
        return response.writeHead(asked.status, challenges ? { "www-authenticate": challenges } : {}).end();
      }
      const session = randomBytes(16).toString("base64url");
      sessions.add(session);
      response.writeHead(204, { "set-cookie": `session=${session}; Path=/; HttpOnly; SameSite=Strict` }).end();
    },
    "/": async (request, response) => {
      if (!isKnown(request)) return response.writeHead(303, { location: "/pass/page/index.html?next=/" }).end();
      response.writeHead(200, { "content-type": TYPES[".html"] });
      response.end("<!doctype html><html lang=en><title>Inside</title><h1>You are inside</h1>");
    },
    "/pass/page/page.json": async (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ src: "/session", issuer, ...settings }));
    },
  };
  return createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://site");
    response.setHeader("content-security-policy", policy);
    response.setHeader("cache-control", "no-store");
    const route = routes[pathname] ?? file(pathname);
    route(request, response).catch(() => response.writeHead(404).end());
  });
}

/** A file of dist/, at /pass/. */
function file(pathname) {
  return async (_, response) => {
    const name = normalize(pathname);
    if (!name.startsWith("/pass/")) throw new Error("no such file");
    const content = await readFile(join(DIST, name.slice("/pass/".length)));
    response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" }).end(content);
  };
}
