// Builds dist/: modules for browsers and node, their types, the page. `make js` calls it.
//
// usage: node build.mjs WASM   (what `cargo build --profile wasm -p sealstone-work` made)

import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const wasm = resolve(process.argv[2] ?? "");
const src = (name) => resolve(here, "src", name);

/** `import bytes from "sealstone-work.wasm"` is the WebAssembly that was named. */
const ours = {
  name: "ours",
  setup: ({ onResolve }) => onResolve({ filter: /^sealstone-work\.wasm$/ }, () => ({ path: wasm })),
};

rmSync(resolve(here, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [resolve(here, "node_modules/typescript/bin/tsc"), "--project", here], { stdio: "inherit" });
await build({
  entryPoints: [src("index.ts"), src("element.ts"), src("worker.ts")],
  outdir: resolve(here, "dist"),
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "neutral",
  mainFields: ["module", "main"],
  target: "es2022",
  minify: true,
  legalComments: "eof",
  loader: { ".wasm": "binary" },
  plugins: [ours],
  // sjcl looks for node's generator if there is no other.
  external: ["crypto"],
  logLevel: "warning",
});
cpSync(resolve(here, "page"), resolve(here, "dist/page"), { recursive: true });
