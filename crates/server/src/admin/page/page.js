// The page of operators. It builds elements, and never HTML from text.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const EVERY = 3000;
const ROLES = ["viewer", "operator", "admin"];

const $ = (id) => document.getElementById(id);

/** The signed-in operator, the last status, and the audit entries that are shown. */
const state = { who: null, status: null, before: null, entries: [], timer: null };

class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `The service answered ${status}`);
    this.status = status;
  }
}

/** Asks the service. */
async function ask(method, path, body) {
  const options = { method, headers: {}, credentials: "same-origin", cache: "no-store" };
  if (method === "POST") {
    options.headers = { "content-type": "application/json", "sealstone-admin": "1" };
    options.body = JSON.stringify(body ?? {});
  }
  const answer = await fetch(path, options);
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, value);
  return value;
}

/** An element with attributes, properties and children. */
function make(name, options = {}, ...children) {
  const element = options.svg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key === "svg" || value === undefined) continue;
    if (key === "onclick") element.addEventListener("click", value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function say(text, isBad = false) {
  const message = $("message");
  message.textContent = text;
  message.classList.toggle("bad", isBad);
  message.hidden = text === "";
}

/** Shows an error; a session that ended shows the login. */
function failed(error) {
  if (error instanceof Refused && error.status === 401 && state.who) return showLogin("Your session has ended.");
  say(error instanceof TypeError ? "The service does not answer." : error.message, true);
}

/** Runs what a button does. */
async function act(work) {
  try {
    say("");
    await work();
  } catch (error) {
    failed(error);
  }
}

const number = (value) => value.toLocaleString("en");
const date = (seconds) =>
  seconds == null || seconds > 8.64e12 ? "–" : new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");

function duration(seconds) {
  for (const [length, name] of [[86400, "d"], [3600, "h"], [60, "min"]]) {
    if (seconds >= 2 * length) return `${Math.floor(seconds / length)} ${name}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}

/** Fills a table; a column is a title, a class and a function of the row. */
function fill(id, columns, rows, none) {
  const head = make("tr", {}, ...columns.map(([title, kind]) => make("th", { class: kind, scope: "col" }, title)));
  const cell = (row) => ([, kind, value]) => make("td", { class: kind }, value(row) ?? "–");
  const body = rows.map((row) => make("tr", {}, ...columns.map(cell(row))));
  if (rows.length === 0) body.push(make("tr", {}, make("td", { colspan: columns.length }, none)));
  $(id).replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
}

/** A path through points, from 0 to the largest value. */
function curve(values, most, kind) {
  const x = (i) => (values.length < 2 ? 0 : (i * 360) / (values.length - 1));
  const y = (value) => 114 - (most > 0 ? (value * 108) / most : 0);
  const points = values.map((value, i) => `${i === 0 ? "M" : "L"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`);
  return make("path", { svg: true, class: kind, d: points.join("") });
}

/** Differences per second of one column of the history. */
function rates(history, column) {
  return history.slice(1).map((sample, i) => {
    const seconds = Math.max(1, sample[0] - history[i][0]);
    return Math.max(0, sample[column] - history[i][column]) / seconds;
  });
}

function showNow(status) {
  const history = status.history;
  const [issued, accepted, refused] = [2, 3, 4].map((column) => rates(history, column));
  const most = Math.max(0, ...issued, ...accepted, ...refused);
  $("rates").replaceChildren(curve(issued, most, "a"), curve(accepted, most, "b"), curve(refused, most, "c"));
  const marks = status.sets.filter((set) => set.name.startsWith("spent-")).reduce((sum, set) => sum + set.marks, 0);
  // Samples are some seconds old; the last point is the present.
  const spent = [...history.map((sample) => sample[1]), marks];
  $("growth").replaceChildren(curve(spent, Math.max(0, ...spent), "a"));
  const hasCurves = history.length > 1;
  $("rates-title").textContent = hasCurves ? `Per second; the top is ${most.toFixed(1)}` : "Per second; the first points come in seconds";
  $("growth-title").textContent = hasCurves ? `Spent tokens; the top is ${number(Math.max(0, ...spent))}` : "Spent tokens";
  const hour = marks - spent[0];
  $("growth-text").textContent = `${number(hour)} more in the last ${duration(hasCurves ? history.at(-1)[0] - history[0][0] : 0)}`;
  const last = (values) => (values.at(-1) ?? 0).toFixed(1);
  const figures = [["Issued /s", last(issued)], ["Accepted /s", last(accepted)], ["Refused at the gate /s", last(refused)], ["Spent tokens", number(marks)]];
  if (status.fingerprint) figures.push(["Fingerprint", status.fingerprint, "small", "whole"]);
  $("figures").replaceChildren(
    ...figures.map(([title, value, kind, width]) =>
      make("div", { class: width }, make("dt", {}, title), make("dd", { class: kind }, value)),
    ),
  );
  const counters = Object.entries(status.counters);
  fill("counters", [["Counter", "wide", ([name]) => name], ["Value", "number", ([, value]) => number(value)]], counters, "Nothing is counted yet");
}

/** A gate and the gates in it. */
function gateItem(gate) {
  const words = {
    none: "everybody passes",
    pow: `proof of work “${gate.name}”: ${gate.algorithm}, ${gate.bits} bits`,
    rate: `rate “${gate.name}”: ${gate.limit} tokens in ${gate.period} s for each ${gate.of ? "account of" : "network"}`,
    invitation: `invitations “${gate.name}”`,
    vouch: `vouching “${gate.name}”: ${gate.threshold} holders of “${gate.invitations}” for ${gate.quota} tokens`,
    trust: `trust “${gate.name}”: ${(gate.levels ?? []).map((level) => `${level.limit} tokens in ${duration(gate.period)} after ${duration(level.age)}`).join(", ")}, for each account of`,
    attestation: `attestation “${gate.name}” of ${gate.issuer}`,
    all: "all of",
    any: "any of",
    "at-least": `at least ${gate.threshold} of`,
  };
  const item = make("li", {}, words[gate.kind] ?? `${gate.kind} “${gate.name ?? ""}”`);
  if (gate.of) item.append(make("ul", {}, ...gate.of.map(gateItem)));
  return item;
}

function keyState(key, now) {
  if (now < key["not-before"]) return ["next", "past"];
  if (now < key["issue-until"]) return ["issues", "now"];
  return ["redeems", "past"];
}

function showKeys(status) {
  const types = { 1: "VOPRF P-384", 2: "blind RSA", 5: "VOPRF ristretto255", 0xff01: "VOPRF P-256" };
  const tag = (key) => {
    const [text, kind] = keyState(key, status.now);
    return make("span", { class: `tag ${kind}` }, text);
  };
  const columns = [
    ["Epoch", "number", (key) => String(key.epoch)],
    ["Type", "", (key) => types[key.type] ?? String(key.type)],
    ["State", "", tag],
    ["Begins", "", (key) => date(key["not-before"])],
    ["Issues until", "", (key) => date(key["issue-until"])],
    ["Redeems until", "", (key) => date(key["redeem-until"])],
    ["Key id", "", (key) => make("code", {}, key["key-id"].slice(0, 16))],
  ];
  fill("key-table", columns, status.keys, "There are no keys");
  $("gate").replaceChildren(gateItem(status.gate));
}

function showSets(status) {
  const columns = [
    ["Set", "", (set) => make("code", {}, set.name)],
    ["Marks", "number", (set) => number(set.marks)],
    ["Dropped after", "", (set) => date(set.until)],
  ];
  fill("set-table", columns, status.sets, "Nothing is spent yet");
}

function show(status) {
  state.status = status;
  const isIssuer = status.keys !== undefined;
  $("role").textContent = `${status.service} ${status.listen}`;
  document.title = `${status.service} ${status.listen} – Sealstone`;
  for (const element of document.querySelectorAll(".of-issuer")) element.hidden = !isIssuer;
  const gates = status["invitation-gates"] ?? [];
  for (const element of document.querySelectorAll(".of-invitations")) element.hidden = gates.length === 0;
  if ($("invite-gate").options.length !== gates.length) {
    $("invite-gate").replaceChildren(...gates.map((gate) => make("option", {}, gate)));
  }
  showNow(status);
  showSets(status);
  if (isIssuer) showKeys(status);
}

async function showInvitations() {
  if ((state.status["invitation-gates"] ?? []).length === 0) return;
  const { invitations } = await ask("GET", "/api/invitations");
  const mayRevoke = ROLES.indexOf(state.who.role) >= 1;
  const button = (made) =>
    made.revoked
      ? make("span", { class: "tag past" }, "revoked")
      : mayRevoke
        ? make("button", { type: "button", class: "danger", onclick: () => uninvite(made), "aria-label": `Revoke ${made.id}` }, "Revoke…")
        : "valid";
  const columns = [
    ["Id", "", (made) => make("code", {}, made.id)],
    ["Gate", "", (made) => made.gate],
    ["Tokens", "number", (made) => number(made.quota)],
    ["Ends", "", (made) => date(made.until)],
    ["Made by", "", (made) => made.by],
    ["", "", button],
  ];
  fill("invitation-table", columns, invitations, "There are no invitations");
}

async function showAudit(older = false) {
  const query = older && state.entries.length > 0 ? `?before=${state.entries.at(-1).number}` : "";
  const { entries } = await ask("GET", `/api/audit${query}`);
  state.entries = older ? state.entries.concat(entries) : entries;
  const known = ["number", "time", "who", "did", "previous"];
  const rest = (entry) =>
    Object.entries(entry)
      .filter(([name]) => !known.includes(name))
      .map(([name, value]) => `${name}: ${name === "until" ? date(value) : value}`)
      .join(", ");
  const columns = [
    ["#", "number", (entry) => String(entry.number)],
    ["Time (UTC)", "", (entry) => date(entry.time)],
    ["Who", "", (entry) => entry.who],
    ["Did", "", (entry) => entry.did.replaceAll("-", " ")],
    ["", "wide", rest],
  ];
  fill("audit-table", columns, state.entries, "Nothing has happened yet");
  $("older").hidden = state.entries.length === 0 || state.entries.at(-1).number === 1;
}

/** Asks back; with a word, the operator has to type it. */
function confirmed(title, text, word) {
  const dialog = $("confirm");
  $("confirm-title").textContent = title;
  $("confirm-text").textContent = text;
  $("confirm-word-row").hidden = !word;
  $("confirm-expected").textContent = word ?? "";
  $("confirm-word").value = "";
  const check = () => { $("confirm-yes").disabled = Boolean(word) && $("confirm-word").value !== word; };
  $("confirm-word").oninput = check;
  check();
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

async function rotate() {
  const text = "New tokens come from the next epoch's keys from now on. Tokens and keys of this epoch stay valid as long as the directory says.";
  if (!(await confirmed("Begin the next epoch?", text))) return;
  await act(async () => {
    await ask("POST", "/api/rotate-keys");
    await refresh();
    say("The next epoch has begun.");
  });
}

async function revoke() {
  const text = "All keys are replaced. Every token that was issued and not redeemed is worthless from now on. Do this if somebody else may know the keys.";
  if (!(await confirmed("Revoke all keys?", text, "revoke"))) return;
  await act(async () => {
    await ask("POST", "/api/revoke-keys");
    await refresh();
    say("All keys were replaced.");
  });
}

async function uninvite(made) {
  const text = `Invitation ${made.id} and all that were made from it stop working.`;
  if (!(await confirmed("Revoke this invitation?", text))) return;
  await act(async () => {
    await ask("POST", "/api/uninvite", { gate: made.gate, id: made.id });
    await refresh();
    say("The invitation is revoked.");
  });
}

async function invite(event) {
  event.preventDefault();
  const form = event.target;
  await act(async () => {
    const body = { gate: form.gate.value, quota: Number(form.quota.value), days: Number(form.days.value) };
    const made = await ask("POST", "/api/invite", body);
    $("invitation").textContent = `${made.gate} ${made.invitation}`;
    $("qr").replaceChildren();
    $("qr").toggleAttribute("hidden", made.qr === null);
    if (made.qr) {
      $("qr").setAttribute("viewBox", `-4 -4 ${made.qr.width + 8} ${made.qr.width + 8}`);
      $("qr").append(make("path", { svg: true, d: made.qr.path, "shape-rendering": "crispEdges" }));
    }
    $("invited").hidden = false;
    await refresh();
  });
}

function hideInvitation() {
  $("invited").hidden = true;
  $("invitation").textContent = "";
  $("qr").replaceChildren();
}

async function verify() {
  await act(async () => {
    const { whole, end, altered } = await ask("GET", "/api/audit/verify");
    $("verified").textContent = whole ? `Whole, up to ${end}` : `Altered: ${altered}`;
  });
}

async function refresh() {
  show(await ask("GET", "/api/status"));
  await showInvitations();
  await showAudit();
}

/** Live figures; the tables that a reader may be in are left alone. */
async function tick() {
  if (document.hidden || !state.who) return;
  try {
    show(await ask("GET", "/api/status"));
  } catch (error) {
    failed(error);
  }
}

function showLogin(text = "") {
  clearInterval(state.timer);
  state.who = null;
  state.entries = [];
  hideInvitation();
  $("views").hidden = true;
  $("who").hidden = true;
  $("login").hidden = false;
  $("role").textContent = "token service";
  say(text);
  $("login-name").focus();
}

async function showViews(who) {
  state.who = who;
  $("name").textContent = `${who.name} (${who.role})`;
  const rank = ROLES.indexOf(who.role);
  for (const element of document.querySelectorAll(".for-operator")) element.hidden = rank < 1;
  for (const element of document.querySelectorAll(".for-admin")) element.hidden = rank < 2;
  await refresh();
  $("login").hidden = true;
  $("who").hidden = false;
  $("views").hidden = false;
  clearInterval(state.timer);
  state.timer = setInterval(tick, EVERY);
}

async function logIn(event) {
  event.preventDefault();
  const form = event.target;
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const body = { name: form.name.value, password: form.password.value };
    form.password.value = "";
    const who = await ask("POST", "/api/login", body);
    say("");
    await showViews(who);
    $("main").focus();
  } catch (error) {
    failed(error);
    form.password.focus();
  } finally {
    button.disabled = false;
  }
}

async function logOut() {
  await act(async () => {
    await ask("POST", "/api/logout");
    showLogin("You are logged out.");
  });
}

$("login").querySelector("form").addEventListener("submit", logIn);
$("logout").addEventListener("click", logOut);
$("rotate").addEventListener("click", rotate);
$("revoke").addEventListener("click", revoke);
$("invite").addEventListener("submit", invite);
$("copy").addEventListener("click", () => act(() => navigator.clipboard.writeText($("invitation").textContent)));
$("hide").addEventListener("click", hideInvitation);
$("verify").addEventListener("click", verify);
$("older").addEventListener("click", () => act(() => showAudit(true)));

ask("GET", "/api/session").then(showViews).catch(() => showLogin());
