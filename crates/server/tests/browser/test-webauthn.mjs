// The gate `webauthn`, with a virtual authenticator of the browser: a credential lets the visitor
// in; for another domain the browser makes none.

import { assert, file, open, world } from "./world.mjs";
import { origin } from "../../../../js/example/origin.mjs";

const CONFIG = (site, domain) => `
pages = ["${site}"]
[issuer]
gate = "key"
[gates.key]
kind = "webauthn"
rp-id = "${domain}"
origins = ["${site}"]
user-verification = true
`;

await world(async ({ directory, browser, start }) => {
  const { createServer } = await import("node:http");
  let current;
  const server = createServer((request, response) => current.emit("request", request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Browsers make no credential for an address of digits.
  const site = `http://localhost:${server.address().port}`;
  const any = ["--listen", "127.0.0.1:0"];
  for (const [domain, isLetIn] of [["localhost", true], ["site.example", false]]) {
    const config = file(directory, `${domain}.toml`, CONFIG(site, domain));
    const issuer = await start("issuer", "--data", `${directory}/${domain}`, "--config", config, ...any);
    const verifier = await start("verifier", "--data", `${directory}/${domain}-v`, "--issuer", issuer.url, ...any);
    current = origin({ issuer: issuer.url, verifier: verifier.url, settings: {} });
    const context = await browser.newContext();
    const { page } = await open(context, site, [issuer.url]);
    await addAuthenticator(context, page);
    await page.getByRole("button", { name: "Let me in" }).click();
    if (isLetIn) await page.getByRole("heading", { name: "You are inside" }).waitFor();
    else {
      await page.getByText("This did not work.").waitFor();
      assert.equal(await page.getByRole("heading", { name: "You are inside" }).count(), 0);
    }
    await context.close();
  }
  server.close();
  server.closeAllConnections();
  console.log("credentials of WebAuthn: all good");
});

/** An authenticator with a user who is there and known. */
async function addAuthenticator(context, page) {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "usb",
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
