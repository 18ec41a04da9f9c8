// The pages' only script: keeps a run's page up to date from its event stream, opens what is folded away, and
// makes everything reachable by keyboard. It reads no attribute that a model could have written: the pages' own
// markup carries data-*, and texts of models carry none.
"use strict";

const body = document.body;
const find = (selector, within = document) => within.querySelector(selector);
const root = body.dataset.root;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// ---- Exchange of parts --------------------------------------------------------------------------------------

// Makes `old` like `fresh` with as few changes as possible: what a person opened, typed or scrolled stays.
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
    old.replaceWith(fresh.cloneNode(true));
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  if ("keep" in old.dataset) return;
  const stays = (name) => name === "open" && old.nodeName === "DETAILS";
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !stays(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !stays(name)) old.setAttribute(name, value);
  }
  if (old.nodeName === "TEXTAREA" || "since" in fresh.dataset || "until" in fresh.dataset) return;
  morphChildren(old, fresh);
}

function morphChildren(old, fresh) {
  const byId = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const known = wanted.id && byId.get(wanted.id);
    if (known && known !== at) {
      old.insertBefore(known, at);
      at = known;
    }
    if (at && (known || !(at.id && wanted.id))) {
      const next = at.nextSibling;
      morph(at, wanted);
      at = next;
    } else {
      old.insertBefore(wanted.cloneNode(true), at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function parsed(markup) {
  const template = document.createElement("template");
  template.innerHTML = markup;
  return template.content;
}

// The run has ended: what happened last stays where it is, with its last figures, so that nothing below jumps.
function rest(old, fresh) {
  fresh.hidden = false;
  fresh.classList.add("over");
  morph(old, fresh);
}

// A question that was answered elsewhere goes away; what was typed and not sent here does not.
function unsent(old, fresh) {
  for (const ask of all(".ask", old)) {
    const typed = all("textarea", ask).map((area) => area.value).filter(Boolean).join("\n\n");
    // Of what is on its way the server's own word says whether it was taken.
    if (fresh.querySelector(`#${CSS.escape(ask.id)}`) || sent.has(ask.id) || !typed.trim()) continue;
    remind(`This question is not open any more: it was answered elsewhere, or its run ended. What you typed and did not send:\n\n${typed}`);
  }
}

function remind(words) {
  const note = document.createElement("p");
  note.className = "note plain";
  note.setAttribute("role", "status");
  note.textContent = words;
  find("#asks").after(note);
}

function exchange({ parts, order }) {
  const main = find("#parts");
  for (const [name, markup] of Object.entries(parts)) {
    const fresh = parsed(markup).firstElementChild;
    const old = document.getElementById(name);
    if (name === "asks" && old) unsent(old, fresh);
    if (name === "now" && old && fresh.hidden && !old.hidden) rest(old, fresh);
    else if (old) morph(old, fresh);
    else if (order.includes(name)) main.append(fresh);
  }
  for (const child of [...main.children]) if (!order.includes(child.id)) child.remove();
  order.forEach((name, index) => {
    const part = document.getElementById(name);
    if (part && main.children[index] !== part) main.insertBefore(part, main.children[index] || null);
  });
  tick();
  offerPictures();
  restore();
}

// ---- A run's page -------------------------------------------------------------------------------------------

const run = body.dataset.run;
let source = null;
let seq = Number(body.dataset.seq || 0);

function say(text) {
  const line = find("#connection");
  if (!line) return;
  line.hidden = !text;
  line.textContent = text;
}

function follow() {
  if (!run || source || !("live" in body.dataset)) return;
  const { view, drawn = "" } = body.dataset;
  source = new EventSource(`${root}/runs/${run}/stream?view=${encodeURIComponent(view)}&after=${seq}&drawn=${drawn}`);
  source.addEventListener("open", () => say(""));
  source.addEventListener("log", (event) => {
    seq = Number(event.lastEventId);
    body.dataset.seq = String(seq);
  });
  source.addEventListener("page", (event) => {
    delete body.dataset.drawn; // from here on only the server knows what this page shows, and only while it streams
    exchange(JSON.parse(event.data));
    announceTurn();
  });
  source.addEventListener("words", (event) => showWords(JSON.parse(event.data)));
  source.addEventListener("end", () => {
    showWords([]);
    leave();
    delete body.dataset.live;
  });
  source.addEventListener("error", () => {
    say(AWAY);
    if (source && source.readyState === EventSource.CLOSED) refused();
  });
}

const AWAY = "Connection lost; trying again. Nothing is missed meanwhile.";
// People sign in by name; only who started a server has seen what it printed.
const WAY = "who" in document.body.dataset ? `Sign in again at ${location.origin}/open.` : "Come in again at the address that it printed.";
const UNKNOWN = `This server was started anew, or you signed out: it does not know this browser. ${WAY}`;

// The stream was refused for good: says why, or tries again.
async function refused() {
  leave();
  const answer = await fetch(`${root}/runs/${run}.json`, { method: "HEAD" }).catch(() => null);
  if (answer && answer.status === 403) say(UNKNOWN);
  else if (answer && answer.status === 404) say("This run was deleted, or is not shared with you any more; what you see is the last that was known of it.");
  else setTimeout(follow, 3000);
}

// The answers on their way: each call's latest words, written as text and never as markup.
function showWords(calls) {
  const place = find("#words");
  if (!place) return;
  place.hidden = !calls.length;
  const known = new Map([...place.children].map((each) => [each.dataset.call, each]));
  for (const call of calls) {
    const each = known.get(call.call) || wordsOf(call);
    known.delete(call.call);
    if (each.parentNode !== place) place.append(each);
    const pace = call.pace === null ? "" : `, ${call.pace} a second`;
    const doing = { sent: "no word yet", queued: "waits for a place", reading: "reads its prompt" }[call.stage];
    const written = `${call.stage === "reasoning" ? "reasoning, " : ""}${call.tokens} tokens${pace}`;
    find("span", each).textContent = call.text ? written : doing;
    const text = find("p", each);
    text.classList.toggle("reasoning", call.stage === "reasoning");
    if (text.textContent !== call.text) text.textContent = call.text;
    text.scrollTop = text.scrollHeight;
  }
  for (const each of known.values()) each.remove();
}

function wordsOf({ call, name }) {
  const each = document.createElement("article");
  each.dataset.call = call;
  const [head, pace, text] = ["b", "span", "p"].map((kind) => document.createElement(kind));
  head.textContent = name;
  text.dir = "auto";
  each.append(head, pace, text);
  return each;
}

function leave() {
  if (source) source.close();
  source = null;
}

const title = document.title;
function announceTurn() {
  document.title = find("#asks .ask") ? `Your turn · ${title}` : title;
}

// Browsers allow six connections to one server: a page that nobody sees gives its own back.
document.addEventListener("visibilitychange", () => (document.hidden ? leave() : follow()));

function tick() {
  for (const clock of all("[data-since]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - Number(clock.dataset.since)) / 1000));
    const [minutes, rest] = [Math.floor(seconds / 60), String(seconds % 60).padStart(2, "0")];
    const text = `${minutes}:${rest}`;
    if (clock.textContent !== text) clock.textContent = text;
  }
  for (const clock of all("[data-until]")) {
    const seconds = Math.ceil((Number(clock.dataset.until) - Date.now()) / 1000);
    const at = new Date(Number(clock.dataset.until)).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    clock.textContent = seconds > 60 ? `and goes on at ${at}` : seconds > 0 ? `in ${seconds} s` : "now";
  }
}

// ---- Opening calls and events -------------------------------------------------------------------------------

document.addEventListener(
  "toggle",
  async (event) => {
    const details = event.target;
    const source = details.dataset && details.dataset.src;
    if (!details.open || !source || !source.startsWith(`${root}/runs/`)) return;
    const place = find(".body", details);
    const unfinished = details.classList.contains("running");
    if (!place || details.dataset.loaded === "yes") return;
    const answer = await fetch(source, { headers: { "X-Fragment": "1" } });
    if (!answer.ok) return;
    place.replaceChildren(parsed(await answer.text()));
    details.dataset.loaded = unfinished ? "partly" : "yes";
  },
  true,
);

// ---- Pictures as PNG ------------------------------------------------------------------------------------------

const DRAWN = ["fill", "stroke", "stroke-width", "opacity", "font-family", "font-size", "font-weight"];

// The picture with the colours that the style sheets give it here, on the page's own ground.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((each, index) => {
    const style = getComputedStyle(each);
    for (const name of DRAWN) to[index].setAttribute(name, style.getPropertyValue(name));
  });
  const ground = document.createElementNS(svg.namespaceURI, "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(body).backgroundColor);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

async function savePng(svg) {
  const { width, height } = svg.viewBox.baseVal;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(svg))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * 2, height * 2];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const link = document.createElement("a");
  link.download = `${run || "picture"}.png`;
  link.href = canvas.toDataURL("image/png");
  link.click();
}

function offerPictures() {
  for (const figure of all("figure.picture")) {
    const [svg, caption] = [find("svg", figure), find(":scope > figcaption", figure)];
    if (!svg || !caption || find(".png", caption)) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "png";
    button.textContent = "PNG";
    button.addEventListener("click", () => savePng(svg));
    caption.insertBefore(button, find(".words", caption));
  }
}

// ---- The list of runs ---------------------------------------------------------------------------------------

async function refresh() {
  const list = find("#list[data-refresh]");
  if (list && !document.hidden) {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html", "X-Fragment": "1" } });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("list");
      if (answer.ok && fresh) morph(list, fresh);
      localTimes();
    } catch {
      // The server is away; the next look will tell.
    }
  }
  setTimeout(refresh, 2000);
}

function localTimes() {
  const written = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const time of all("time[datetime]")) {
    const text = written.format(new Date(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
}

// ---- What is typed and sent ---------------------------------------------------------------------------------

// What a person types is kept in this browser until the server has it.
const sent = new Set();
const draftOf = (form) => `draft ${body.dataset.who || ""}${location.pathname.slice(root.length)} ${form.dataset.draft || form.getAttribute("action").slice(root.length)}`;
const fieldsOf = (form) => all("textarea[name], select[name], input[name]:not([type=hidden], [type=password])", form);
const ticks = (field) => field.type === "radio" || field.type === "checkbox";
const keyOf = (field) => (ticks(field) ? `${field.name}=${field.value}` : field.name);
const now = (field) => (ticks(field) ? field.checked : field.value);
const usual = (field) => {
  if (field.options) return ([...field.options].find((each) => each.defaultSelected) || field.options[0]).value;
  return ticks(field) ? field.defaultChecked : field.defaultValue;
};

function drafts(form) {
  try {
    return JSON.parse(localStorage.getItem(draftOf(form))) || {};
  } catch {
    return {};
  }
}

function keep(event) {
  const form = event.target.form;
  if (!form || form.method !== "post" || "plain" in form.dataset || !event.target.name) return;
  const changed = fieldsOf(form).filter((field) => now(field) !== usual(field));
  const typed = Object.fromEntries(changed.map((field) => [keyOf(field), now(field)]));
  try {
    if (Object.keys(typed).length) localStorage.setItem(draftOf(form), JSON.stringify(typed));
    else localStorage.removeItem(draftOf(form));
  } catch {
    // The browser keeps nothing, or no more: the page itself still does.
  }
}

function restore() {
  for (const form of all("form.ask, form.fill")) {
    if ("restored" in form.dataset || "plain" in form.dataset) continue;
    form.dataset.restored = "";
    const typed = drafts(form);
    for (const field of fieldsOf(form)) {
      if (!(keyOf(field) in typed)) continue;
      if (ticks(field)) field.checked = typed[keyOf(field)];
      else field.value = typed[keyOf(field)];
    }
    for (const advanced of all(".advanced", form)) countSet(advanced);
  }
}

// Sends a form without leaving the page before the server has answered.
async function send(event) {
  const form = event.target;
  const method = event.submitter && event.submitter.hasAttribute("formmethod") ? event.submitter.formMethod : form.method;
  if (method !== "post" || "plain" in form.dataset) return;
  event.preventDefault();
  const { submitter } = event;
  await Promise.all(settling);
  const body = new URLSearchParams(new FormData(form, submitter));
  for (const note of all(":scope > .refusal", form)) note.remove();
  form.setAttribute("aria-busy", "true");
  const asked = form.matches(".ask") && source !== null;
  form.hidden = asked; // at once, so that nobody writes into a question that has its answer
  const typed = all("textarea", form).map((area) => area.value).filter(Boolean).join("\n\n");
  if (asked) sent.add(form.id);
  let answer;
  try {
    answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
  } catch {
    sent.delete(form.id);
    refuse(form, "The server cannot be reached. What you typed is kept here; send it again when the server is back.");
    return;
  } finally {
    form.removeAttribute("aria-busy");
  }
  if (!answer.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const bad = find(".note.bad", page);
    const why = answer.status === 403 && !bad ? UNKNOWN : (bad || page.body).textContent;
    sent.delete(form.id);
    if (form.isConnected) refuse(form, why);
    else remind(`${why}\n\nWhat you typed was not taken:\n\n${typed}`);
    return;
  }
  if (answer.headers.has("X-Note")) {
    refuse(form, await answer.text(), "good");
    return;
  }
  sent.add(form.id);
  localStorage.removeItem(draftOf(form));
  if (asked) return; // the stream brings what comes of it
  location.assign(answer.url);
}

function refuse(form, why, look = "bad") {
  form.hidden = false;
  const note = document.createElement("p");
  note.className = `note ${look} refusal`;
  note.setAttribute("role", look === "bad" ? "alert" : "status");
  note.dir = "auto";
  note.textContent = why;
  form.append(note);
}

document.addEventListener("input", keep);
document.addEventListener("submit", send);

// ---- The box on the start page --------------------------------------------------------------------------------

// What suits the text and what it will take, asked anew a moment after the last change.
let pending = 0;
let asking = 0;
async function suggest(form) {
  const number = ++asking;
  const said = new FormData(form);
  const query = new URLSearchParams({ text: (said.get("text") || "").slice(0, 4000), kind: said.get("kind") || "", model: said.get("model") || "" });
  const answer = await fetch(`${root}/?${query}`, { headers: { "X-Fragment": "1" } }).catch(() => null);
  if (!answer || !answer.ok || number !== asking) return;
  const fresh = parsed(await answer.text()).firstElementChild;
  morph(find("#choice"), fresh);
  furnish();
  delete form.dataset.restored;
  restore();
  if ("looking" in fresh.dataset) pending = setTimeout(suggest, 500, form);
}

const box = find("form.begin");
if (box) {
  box.addEventListener("input", ({ target }) => {
    if (!["text", "kind", "model"].includes(target.name)) return;
    clearTimeout(pending);
    asking++; // an answer under way is of before
    pending = setTimeout(suggest, 250, box);
  });
}

// ---- A text that may come from a file ------------------------------------------------------------------------

const addressed = (file) => new Promise((done) => {
  const reader = new FileReader();
  reader.addEventListener("load", () => done(reader.result));
  reader.readAsDataURL(file);
});

// What a field takes of a file: a picture's own address (what it is, the server looks at), or its text, never a guess at it.
async function textOf(file, { file: only, most = 1 }) {
  if (file.size > most * 2 ** 20) throw new Error(`${file.name} is larger than ${most} MiB; shorten it, or start this from the command line.`);
  if (file.type.startsWith("image/") && only !== "text") return addressed(file);
  const bytes = await file.arrayBuffer();
  const [first, second] = new Uint8Array(bytes);
  const wide = { 0xfffe: "utf-16le", 0xfeff: "utf-16be" }[first * 256 + second];
  try {
    return new TextDecoder(wide || "utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${file.name} is no text in UTF-8; save it as such, in a spreadsheet as "CSV UTF-8".`);
  }
}

// Beside a field and outside its label, whose words are the field's name.
const under = (field, added) => (field.closest("label") || field).after(added);

function fileFor(area) {
  const file = document.createElement("input");
  file.type = "file";
  file.setAttribute("aria-label", "Read it from a file");
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    for (const note of all(".refusal", area.form)) note.remove();
    if (!chosen) return;
    try {
      area.value = await textOf(chosen, area.dataset);
      area.dispatchEvent(new Event("input", { bubbles: true }));
    } catch (why) {
      file.value = "";
      refuse(area.form, why.message);
    }
  });
  under(area, file);
}

// ---- A model, found by parts of its name ------------------------------------------------------------------------

const settling = new Set(); // fields whose text is being looked up
async function namesOf(words) {
  const answer = await fetch(`${root}/models.json?search=${encodeURIComponent(words)}`).catch(() => null);
  return answer && answer.ok ? (await answer.json()).models : [];
}

// One box for each place that takes a model, or several: its list tells price, window and the last check.
function modelFor(field) {
  const several = field.dataset.models === "several";
  const input = several ? document.createElement("input") : field;
  if (several) {
    [input.type, input.placeholder] = ["text", "Search a model to add"];
    input.setAttribute("aria-label", `Add to ${field.labels[0] ? field.labels[0].textContent : "models"}`);
    under(field, input);
  }
  const list = document.createElement("ol");
  [list.id, list.className, list.hidden] = [`models-${++boxes}`, "models", true];
  const told = { role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" };
  for (const [name, value] of Object.entries(told)) input.setAttribute(name, value);
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Models");
  under(input, list);
  let [chosen, number] = [-1, 0];
  const shut = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (at) => {
    chosen = at;
    [...list.children].forEach((row, index) => row.setAttribute("aria-selected", String(index === at)));
    const row = list.children[at];
    if (row) input.setAttribute("aria-activedescendant", row.id);
    if (row) row.scrollIntoView({ block: "nearest" });
  };
  const take = (row) => {
    shut();
    typed = false;
    put(row.dataset.value);
  };
  const put = (name) => {
    if (several) field.value = [...field.value.split("\n").filter(Boolean), name].join("\n");
    input.value = several ? "" : name;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const row = (value, head, words, index) => {
    const each = document.createElement("li");
    each.id = `${list.id}-${index}`;
    each.dataset.value = value;
    each.setAttribute("role", "option");
    const [name, rest] = [document.createElement("b"), document.createElement("span")];
    [name.textContent, rest.textContent] = [head, words];
    each.append(name, rest);
    each.addEventListener("pointerdown", (event) => (event.preventDefault(), take(each)));
    return each;
  };
  const show = async () => {
    const asked = ++number;
    const models = await namesOf(input.value);
    if (asked !== number || document.activeElement !== input) return;
    const found = models.map(({ name, words, carries }) => [name, name, carries ? `${words}; checked: ${carries.join(", ") || "carries none"}` : words]);
    if (field.dataset.models === "person" || several) found.unshift(["terminal:", "me", "you answer on the run's page"]);
    list.replaceChildren(...found.map((each, index) => row(...each, index)));
    list.hidden = !found.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    chosen = -1;
  };
  let [wait, typed] = [0, false];
  input.addEventListener("focus", show);
  input.addEventListener("input", (event) => {
    if (!event.isTrusted) return;
    clearTimeout(wait);
    [wait, typed] = [setTimeout(show, 150), true];
  });
  // Parts of a name that only one model has are that model, once the field is left; an id stays as it was typed.
  input.addEventListener("blur", () => {
    shut();
    const words = input.value.trim();
    if (!typed || !words || words.includes(":")) return;
    typed = false;
    clearTimeout(wait);
    const found = namesOf(words).then((models) => models.length === 1 && input.value.trim() === words && put(models[0].name));
    settling.add(found);
    found.finally(() => settling.delete(found));
  });
  input.addEventListener("keydown", (event) => {
    if (list.hidden && event.key === "ArrowDown") show();
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) mark((chosen + step + list.children.length) % list.children.length);
    else if (event.key === "Enter" && chosen >= 0) take(list.children[chosen]);
    else if (event.key === "Escape") shut();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
let boxes = 0;

// How many of what is folded away are as they were.
function countSet(advanced) {
  const changed = new Set(fieldsOf(advanced).filter((field) => now(field) !== usual(field)).map((field) => field.name)).size;
  const [words, many] = [find("summary .hint", advanced), Number(advanced.dataset.all)];
  words.textContent = changed ? `(${changed} set, ${many - changed} set to their defaults)` : `(${many} set to their defaults)`;
}
document.addEventListener("input", ({ target }) => {
  const advanced = target.closest(".advanced");
  if (advanced) countSet(advanced);
});

// What only a script can add to the fields that are there now.
function furnish() {
  for (const field of all("[data-models], textarea[data-file]")) {
    if ("furnished" in field.dataset) continue;
    field.dataset.furnished = "";
    if ("file" in field.dataset) fileFor(field);
    else modelFor(field);
  }
}
furnish();

// ---- Challenging what an answer says ---------------------------------------------------------------------------

// What is marked in a run that can be followed up becomes the question of the run that does so.
document.addEventListener("selectionchange", () => {
  const [follow, marked] = [find("#follow-up"), document.getSelection()];
  const text = marked.toString().replace(/\s+/g, " ").trim().slice(0, 1000);
  let link = find("#challenge");
  if (!follow || !text || !find("#parts").contains(marked.anchorNode)) {
    if (link && !link.matches(":hover, :focus")) link.remove();
    return;
  }
  if (!link) {
    link = document.createElement("a");
    [link.id, link.className, link.textContent] = ["challenge", "primary", "Challenge what is marked"];
    body.append(link);
  }
  const question = `“${text}”\n\nIs that so? Say what speaks against it, and what then becomes of the answer.`;
  const fields = { [follow.dataset.field]: question };
  if (follow.dataset.challenge) fields[follow.dataset.challenge] = text;
  link.href = `${follow.href}&${new URLSearchParams(fields)}`;
});

// ---- Keyboard -----------------------------------------------------------------------------------------------

const STOPS = ".item, .ask, #parts > section, .voice > summary, .call > summary, .across";
let stop = null;

function go(step) {
  const stops = all(STOPS).filter((each) => each.offsetParent !== null);
  if (!stops.length) return;
  let index = stops.indexOf(stop);
  if (index < 0) index = step > 0 ? -1 : 0;
  stop = stops[Math.min(Math.max(index + step, 0), stops.length - 1)];
  const target = stop.matches("summary") ? stop : find("a", stop) && stop.matches(".item") ? find("a", stop) : stop;
  if (!target.matches("a, summary")) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  stop.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

function foldAll(open) {
  for (const details of all("#parts details")) if (!details.dataset.src || !open) details.open = open;
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest && event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select");
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    summon();
  } else if (event.key === "Escape" && !find("#palette[open]")) {
    for (const menu of all(".menu[open]")) menu.open = false;
    document.activeElement.blur();
    stop = null;
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (event.key === "j") go(1);
    else if (event.key === "k") go(-1);
    else if (event.key === "e") foldAll(true);
    else if (event.key === "c") foldAll(false);
    else if (event.key.toLowerCase() === "x" && pick(event.shiftKey)) picked();
    else if (event.key === "/" && find("#search")) find("#search").focus();
    else if (event.key === "?" && find("#keys:not([open])")) find("#keys").showModal();
    else return;
    event.preventDefault();
  }
});

document.addEventListener("click", (event) => {
  for (const menu of all(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

// ---- Palette ------------------------------------------------------------------------------------------------

function entries() {
  const places = all("#views a, .entries a, .tabs a, .actions a, .actions button, #contents a");
  return places.filter((each) => each.textContent.trim()).map((each) => ({ text: each.textContent.trim(), act: () => each.click() }));
}

async function foundRuns(search) {
  const answer = await fetch(`${root}/runs.json?search=${encodeURIComponent(search)}`);
  if (!answer.ok) return [];
  const { runs } = await answer.json();
  const open = (id) => () => location.assign(`${root}/runs/${id}`);
  return runs.slice(0, 8).map((each) => ({ text: each.title || each.run_id, note: each.state, act: open(each.run_id) }));
}

function summon() {
  if (find("#palette")) return;
  const dialog = document.createElement("dialog");
  dialog.id = "palette";
  const input = document.createElement("input");
  input.type = "text";
  input.placeholder = "Go to a run, a section, an action";
  const list = document.createElement("ol");
  list.id = "found";
  const told = { role: "combobox", "aria-label": "Go to", "aria-controls": list.id, "aria-expanded": "true" };
  for (const [name, value] of Object.entries(told)) input.setAttribute(name, value);
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Found");
  dialog.append(input, list);
  body.append(dialog);
  let shown = [];
  let chosen = 0;
  let asked = 0;

  const mark = () => {
    [...list.children].forEach((row, index) => {
      row.classList.toggle("chosen", index === chosen);
      row.setAttribute("aria-selected", String(index === chosen));
    });
    const row = list.children[chosen];
    input.setAttribute("aria-activedescendant", row ? row.id : "");
    if (row) row.scrollIntoView({ block: "nearest" });
  };
  const act = (entry) => {
    dialog.close();
    if (entry) entry.act();
  };
  const fill = async () => {
    const words = input.value.trim().toLowerCase();
    const here = entries().filter((each) => each.text.toLowerCase().includes(words));
    const number = ++asked;
    const found = await foundRuns(words).catch(() => []);
    if (number !== asked) return;
    shown = words ? [...found, ...here].slice(0, 12) : [...here, ...found].slice(0, 16);
    chosen = 0;
    list.replaceChildren(
      ...shown.map((entry, index) => {
        const row = document.createElement("li");
        row.id = `found-${index}`;
        row.setAttribute("role", "option");
        row.textContent = entry.text;
        if (entry.note) row.dataset.note = entry.note;
        row.addEventListener("click", () => act(entry));
        row.addEventListener("mousemove", () => ((chosen = index), mark()));
        return row;
      }),
    );
    mark();
  };
  input.addEventListener("input", fill);
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") chosen = Math.min(chosen + 1, shown.length - 1);
    else if (event.key === "ArrowUp") chosen = Math.max(chosen - 1, 0);
    else if (event.key === "Enter") act(shown[chosen]);
    else return;
    event.preventDefault();
    mark();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
  fill();
}

const summoner = find("#summon");
if (summoner) summoner.addEventListener("click", summon);
// ---- Runs that are chosen, views that are kept ------------------------------------------------------------------

const chosen = find("#chosen");
const picked = () => {
  if (!find("#every")) return;
  const many = all("#list input:checked").length;
  find("#compare").disabled = many !== 2;
  find("#ticked").textContent = find("#every").checked ? "" : `${many} chosen`;
  for (const button of all("button[name=do]", chosen)) button.disabled = !many && !find("#every").checked;
};
document.addEventListener("change", picked);

// The run that the keyboard is at, or with Shift all between the last one and it.
let last = null;
function pick(through) {
  const boxes = all("#list input[type=checkbox]");
  const at = boxes.indexOf(stop && find("input[type=checkbox]", stop));
  if (at < 0) return false;
  const from = through && boxes.includes(last) ? boxes.indexOf(last) : at;
  const wanted = from === at ? !boxes[at].checked : last.checked;
  for (const box of boxes.slice(Math.min(from, at), Math.max(from, at) + 1)) box.checked = wanted;
  last = boxes[at];
  picked();
  return true;
}
if (chosen) {
  chosen.addEventListener("click", (event) => {
    const box = event.target.closest("#list input[type=checkbox]");
    if (!box) return;
    [stop, box.checked] = [box.closest(".item"), !box.checked];
    pick(event.shiftKey);
  });
  chosen.addEventListener("submit", (event) => {
    if (event.submitter !== find("#compare")) return;
    event.preventDefault(); // an address of the two alone
    location.assign(`${root}/compare?${all("#list input:checked").map((each) => `run=${each.value}`).join("&")}`);
  });
}

// An address is a view; here it has a name.
const viewsOf = `views ${body.dataset.who || ""}`;
function keptViews() {
  try {
    return JSON.parse(localStorage.getItem(viewsOf)) || {};
  } catch {
    return {};
  }
}
function showViews() {
  const menu = find("#views");
  if (!menu) return;
  const kept = keptViews();
  menu.hidden = false;
  for (const row of all("li:not(.keep)", menu)) row.remove();
  find(".keep", menu).before(
    ...Object.keys(kept).sort().map((name) => {
      const [row, link, out] = ["li", "a", "button"].map((kind) => document.createElement(kind));
      [link.textContent, link.href, link.dir] = [name, root + kept[name], "auto"];
      [out.textContent, out.type, out.title] = ["×", "button", `Forget ${name}`];
      out.setAttribute("aria-label", `Forget ${name}`);
      out.addEventListener("click", () => keepView(name));
      row.append(link, out);
      return row;
    }),
  );
}
function keepView(name, address) {
  try {
    localStorage.setItem(viewsOf, JSON.stringify({ ...keptViews(), [name]: address }));
  } catch {
    // The browser keeps nothing; the address still can be kept as a bookmark.
  }
  showViews();
}
document.addEventListener("submit", (event) => {
  if (!event.target.matches("#views form")) return;
  event.preventDefault();
  setTimeout(() => {
    // The bench writes its address a moment after the last change.
    keepView(event.target.elements.name.value.trim(), location.pathname.slice(root.length) + location.search);
    event.target.reset();
  }, 200);
});
addEventListener("storage", showViews);

// A link for a first sign-in: what it holds leaves the address at once, and goes to the server as a form.
const first = find("#first");
if (first && location.hash.includes(":")) {
  const [name, secret] = location.hash.slice(1).split(":");
  history.replaceState(null, "", location.pathname);
  first.open = true;
  first.previousElementSibling.remove();
  find("[name=name]", first).value = name;
  find("[name=key]", first).value = secret;
  find("[name=password]", first).focus();
}

// An address of before, or without the secret path, asks who comes; a browser that is signed in goes on by the path
// that it was last let in by, also when that happens in another tab.
const way = find("[data-way]");
function goOn() {
  let known = "";
  try {
    if (root) localStorage.setItem("root", root);
    known = localStorage.getItem("root") || "";
  } catch {
    // The browser keeps nothing: whoever comes signs in.
  }
  if (way && known.startsWith("/s/") && !location.pathname.startsWith(`${known}/`)) location.replace(known + way.dataset.way);
}
if (way) addEventListener("storage", goOn);
goOn();

// On a phone the bar scrolls: the entry that is open is in sight.
const [bar, here] = [find(".entries"), find(".entries [aria-current]")];
if (here) bar.scrollLeft = here.offsetLeft + here.offsetWidth - bar.offsetLeft - bar.clientWidth;

localTimes();
picked();
showViews();
tick();
setInterval(tick, 1000);
announceTurn();
offerPictures();
restore();
follow();
if (box) suggest(box);
if (find("#list[data-refresh]")) setTimeout(refresh, 2000);
