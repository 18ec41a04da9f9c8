// The bench: draws the rows of the table that are in sight, sorts, filters and groups them, fetches the case that is
// looked at, and labels by keyboard. What is looked at stands in the address. It comes after app.js, whose `find`,
// `all`, `parsed`, `root` and `body` it uses; every text of a case is written as text, never as markup.
"use strict";

{
  const ROW = 34; // pixels of a row, as the style sheet has it
  const WAIT = 120; // milliseconds that the keyboard must rest before a case is fetched
  const FEW = 12; // values of a column up to which its filter lists them
  const [region, table, pane] = [find("#rows"), find("#rows table"), find("#case")];
  const form = find("#choosing");
  const here = location.pathname;
  const labels = all("[data-label]").map((each) => each.dataset.label);
  const NAMED = { find: "", show: "", group: "", sort: "", case: "", who: "" };

  let cases = []; // as the server has them, in its order
  let view = []; // what is shown: cases, and heads of groups
  let columns = []; // that tell cases apart: head, kind, place
  let at = -1; // of the view: the case that is looked at
  const undo = [];
  const state = { ...NAMED, filters: {} };

  const me = () => form.elements.who.value.trim() || "me";
  const value = (one, head) => (head === "state" || head === "case" || head === "cause" ? one[head] : one.cells[head]);
  const node = (tag, text = "", name = "") => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const span = () => all("thead tr:first-child th", table).filter((each) => each.offsetWidth).length;
  const written = (held) => {
    if (held === null || held === undefined || held === "") return "–";
    if (typeof held !== "number") return held;
    return Math.abs(held) >= 100 ? held.toFixed(0) : String(Number(held.toPrecision(3)));
  };

  // ---- The address ----------------------------------------------------------------------------------------------

  function readAddress() {
    const query = new URLSearchParams(location.search);
    for (const name of Object.keys(NAMED)) state[name] = query.get(name) || "";
    for (const [name, wanted] of query) if (name.startsWith("in.")) state.filters[name.slice(3)] = wanted;
    for (const name of ["find", "show", "group"]) form.elements[name].value = state[name];
  }

  function address() {
    const query = new URLSearchParams();
    for (const name of Object.keys(NAMED)) if (state[name]) query.set(name, state[name]);
    for (const [head, wanted] of Object.entries(state.filters)) if (wanted) query.set(`in.${head}`, wanted);
    return `${here}${query.size ? `?${query}` : ""}`;
  }

  let later = 0;
  function keepAddress() {
    clearTimeout(later); // browsers refuse too many changes a second
    later = setTimeout(() => history.replaceState(null, "", address()), 150);
  }
  addEventListener("pagehide", () => history.replaceState(null, "", address()));

  // ---- What is shown --------------------------------------------------------------------------------------------

  // Whether a value is as somebody typed it: a part of it, or for numbers a comparison such as >=0.7.
  function meets(held, wanted) {
    const bound = /^\s*([<>]=?|=)\s*(-?[\d.]+)\s*$/.exec(wanted);
    if (!bound) return written(held).toLowerCase().includes(wanted.toLowerCase());
    const number = Number(bound[2]);
    if (typeof held !== "number") return false;
    return { "<": held < number, "<=": held <= number, ">": held > number, ">=": held >= number, "=": held === number }[bound[1]];
  }

  function wanted(one, words) {
    const given = Object.values(one.labels);
    if (state.show === "failed" && one.state !== "failed") return false;
    if (state.show === "unlabelled" && one.labels[me()]) return false;
    if (state.show === "disputed" && new Set(given).size < 2) return false;
    for (const [head, asked] of Object.entries(state.filters)) if (asked && !meets(value(one, head), asked)) return false;
    if (!words) return true;
    return [one.case, one.text, one.cause, ...Object.values(one.cells), ...given].some((text) => words.test(text));
  }

  function compared(a, b) {
    if (a === b) return 0;
    if (a === null || a === "") return 1;
    if (b === null || b === "") return -1;
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  }

  function choose() {
    const words = state.find.trim() && new RegExp(state.find.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "iu");
    const chosen = cases.filter((one) => wanted(one, words));
    const [head, turned] = [state.sort.replace(/^-/, ""), state.sort.startsWith("-") ? -1 : 1];
    if (head) chosen.sort((a, b) => turned * compared(value(a, head), value(b, head)));
    view = state.group ? grouped(chosen) : chosen;
    const failed = chosen.filter((one) => one.state === "failed").length;
    const mine = chosen.filter((one) => one.labels[me()]).length;
    const many = chosen.length === cases.length ? `${cases.length}` : `${chosen.length} of ${cases.length}`;
    find("#told").textContent = `${many} cases, ${failed} failed, ${mine} labelled by ${me()}`;
  }

  // The groups with most failures first, each behind a head that says what is in it.
  function grouped(chosen) {
    const groups = new Map();
    for (const one of chosen) {
      const name = value(one, state.group) || (state.group === "cause" ? one.state : "–");
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(one);
    }
    const bad = (held) => held.filter((one) => one.state === "failed").length;
    const ordered = [...groups].sort(([, a], [, b]) => bad(b) - bad(a) || b.length - a.length);
    return ordered.flatMap(([name, held]) => {
      const given = {};
      for (const label of held.flatMap((one) => Object.values(one.labels))) given[label] = (given[label] || 0) + 1;
      const parts = [`${held.length} of them`, bad(held) ? `${bad(held)} failed` : "", ...Object.entries(given).map(([label, many]) => `${label} ${many}`)];
      return [{ head: `${written(name)}: ${parts.filter(Boolean).join(", ")}` }, ...held];
    });
  }

  // ---- The rows that are in sight -------------------------------------------------------------------------------

  const tbody = find("tbody", table);
  const spacer = (rows) => {
    const made = node("tr");
    made.append(node("td"));
    made.firstChild.colSpan = span();
    made.style.height = `${rows * ROW}px`;
    made.setAttribute("aria-hidden", "true");
    return made;
  };

  function rowOf(one, index) {
    const row = node("tr");
    row.setAttribute("aria-rowindex", String(index + 2));
    if (one.head !== undefined) {
      const head = node("th", one.head, "group");
      [head.colSpan, head.scope] = [span(), "rowgroup"];
      row.append(head);
      return row;
    }
    row.dataset.index = String(index);
    if (index === at) row.setAttribute("aria-current", "true");
    const status = node("td");
    status.append(node("span", one.state, `tag state-${one.state}`));
    const given = node("td");
    for (const [who, label] of Object.entries(one.labels)) given.append(node("span", who === me() ? label : `${who}: ${label}`, "tag"));
    if (new Set(Object.values(one.labels)).size > 1) given.append(node("span", "differ", "tag bad"));
    const cells = columns.map(({ head, kind }) => node("td", written(one.cells[head]).slice(0, 200), `${kind} minor`));
    row.append(node("td", one.case.slice(0, 200), "name"), status, given, ...cells);
    for (const cell of row.children) cell.dir = "auto";
    return row;
  }

  function draw() {
    const first = Math.max(Math.floor(region.scrollTop / ROW) - 8, 0);
    const end = Math.min(first + Math.ceil(region.clientHeight / ROW) + 16, view.length);
    const rows = view.slice(first, end).map((one, index) => rowOf(one, first + index));
    if (first) rows.unshift(spacer(first));
    if (end < view.length) rows.push(spacer(view.length - end));
    if (!view.length) rows.push(rowOf({ head: "No case is like that." }, 0));
    table.setAttribute("aria-rowcount", String(view.length + 1));
    tbody.replaceChildren(...rows);
  }

  function show() {
    const key = state.case;
    choose();
    at = view.findIndex((one) => one.key === key);
    draw();
    keepAddress();
  }

  let drawing = 0;
  region.addEventListener("scroll", () => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(draw);
  });
  addEventListener("resize", draw);

  // ---- The case that is looked at -------------------------------------------------------------------------------

  let [fetching, waiting] = [null, 0];
  function look(index, now = false) {
    if (!view[index] || view[index].head !== undefined) return;
    at = index;
    state.case = view[at].key;
    const [top, low] = [at * ROW, (at + 1) * ROW - region.clientHeight + 2 * ROW + (find("thead", table).offsetHeight || 0)];
    if (region.scrollTop > top) region.scrollTop = top;
    else if (region.scrollTop < low) region.scrollTop = low;
    draw();
    keepAddress();
    clearTimeout(waiting);
    waiting = setTimeout(open, now ? 0 : WAIT);
  }

  async function open() {
    if (fetching) fetching.abort();
    const [mine, key] = [new AbortController(), state.case];
    fetching = mine;
    const query = new URLSearchParams({ case: key, who: me() });
    const asked = { headers: { "X-Fragment": "1" }, signal: mine.signal };
    const answer = await fetch(`${here}?${query}`, asked).catch(() => null);
    if (mine.signal.aborted) return;
    if (!answer || !answer.ok) {
      pane.replaceChildren(node("p", "The case cannot be fetched; the server is away, or does not know this browser any more.", "note bad"));
      return;
    }
    const text = await answer.text().catch(() => ""); // another case is looked at by now
    if (mine.signal.aborted || key !== state.case) return;
    const fragment = parsed(text);
    pane.replaceChildren(fragment);
    pane.scrollTop = 0;
    pane.dataset.key = key;
  }

  function step(by, is = () => true) {
    for (let index = at + by; view[index]; index += by) if (view[index].head === undefined && is(view[index])) return look(index);
    return undefined;
  }

  function nextFailed() {
    const bad = (one) => one.state === "failed";
    const after = view.findIndex((one, index) => index > at && bad(one));
    look(after >= 0 ? after : view.findIndex(bad));
  }

  // ---- Labels and notes -----------------------------------------------------------------------------------------

  function say(words) {
    find("#told").textContent = words;
  }

  async function write(one, fields) {
    if (!one.run) {
      say("This case has no run yet that a label could stand beside.");
      return false;
    }
    const sending = { method: "POST", body: new URLSearchParams({ who: me(), place: one.place, ...fields }), headers: { Accept: "application/json" } };
    const answer = await fetch(`${root}/runs/${one.run}/notes`, sending).catch(() => null);
    if (answer && answer.ok) return true;
    const why = answer ? (await answer.json().catch(() => ({}))).message : "";
    say(`Not taken: ${why || "the server is away, or does not know this browser any more"}.`);
    return false;
  }

  async function give(one, label) {
    const [before, whose] = [one.labels[me()] || "", me()];
    const set = (held) => (held ? (one.labels[whose] = held) : delete one.labels[whose]);
    set(label); // at once: the keyboard does not wait for the server
    draw();
    if (await write(one, { label })) return true;
    set(before);
    draw();
    return false;
  }

  function label(number) {
    const [one, given] = [view[at], labels[number - 1]];
    if (!one || one.head !== undefined || !given) return;
    undo.push([one, one.labels[me()] || ""]);
    const last = at;
    step(1);
    give(one, given).then((taken) => {
      if (!taken) undo.splice(undo.findIndex(([other]) => other === one), 1);
      if (last === at) open();
    });
  }

  async function takeBack() {
    const [one, before] = undo.pop() || [];
    if (!one) return;
    await give(one, before);
    look(view.indexOf(one), true);
  }

  pane.addEventListener("submit", async (event) => {
    const one = cases.find((each) => each.key === state.case);
    if (!one || !event.target.matches(".labels, .noting")) return;
    event.preventDefault();
    if (event.target.matches(".labels")) {
      undo.push([one, one.labels[me()] || ""]);
      await give(one, event.submitter.value);
    } else if (!(await write(one, { note: find("textarea", event.target).value }))) return;
    region.focus();
    open();
  });

  // ---- Columns, filters, keys -----------------------------------------------------------------------------------

  function head(cell) {
    const name = cell.dataset.sort;
    const button = node("button", cell.textContent, "sorts");
    button.type = "button";
    button.addEventListener("click", () => {
      state.sort = state.sort === name ? `-${name}` : state.sort === `-${name}` ? "" : name;
      marks();
      show();
    });
    cell.replaceChildren(button);
  }

  function marks() {
    for (const cell of all("th[data-sort]", table)) {
      const [name, turned] = [state.sort.replace(/^-/, ""), state.sort.startsWith("-")];
      if (cell.dataset.sort === name) cell.setAttribute("aria-sort", turned ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }

  // Under a head: a list of the values where they are few, else a field for a part of them.
  function filter(cell) {
    const [name, made] = [cell.dataset.sort, node("td", "", cell.className)];
    if (!name) return made;
    const held = new Set(cases.map((one) => value(one, name)));
    const few = held.size <= FEW && [...held].every((each) => typeof each === "string");
    const field = node(few ? "select" : "input");
    if (few) for (const each of ["", ...[...held].filter(Boolean).sort()]) field.append(new Option(each ? each.slice(0, 60) : "any", each));
    else [field.type, field.placeholder] = ["text", held.size && [...held].some((each) => typeof each === "number") ? ">= …" : "has …"];
    field.setAttribute("aria-label", `Only where ${cell.textContent.trim()} is`);
    field.value = state.filters[name] || "";
    field.addEventListener("input", () => ((state.filters[name] = field.value), show()));
    made.append(field);
    return made;
  }

  const KEYS = {
    j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
    f: nextFailed, u: takeBack, n: () => find(".noting textarea", pane) && find(".noting textarea", pane).focus(),
  };

  // Before app.js hears of it, whose keys go through sections.
  document.addEventListener("keydown", (event) => {
    if (event.target.closest(".noting") && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.target.form.requestSubmit();
    } else if (event.target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (/^[1-6]$/.test(event.key)) label(Number(event.key));
    else if (KEYS[event.key] && !(event.key.startsWith("Arrow") && event.target.closest("#case"))) KEYS[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }, true);

  tbody.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-index]");
    if (row) look(Number(row.dataset.index), true);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target }) => {
    state[target.name] = target.value;
    show();
  });
  find("#show-keys").addEventListener("click", () => find("#keys").showModal());

  // The cases as the server has them; while a run goes on there are more of them now and then.
  function take(data) {
    columns = data.telling.map((place) => data.columns[place]);
    const keys = new Set();
    cases = data.cases.map(({ case: name, state: is, text, cause, run, place, labels: given, notes, agreed, expect, ...cells }, index) => {
      const key = place || run;
      const free = key && !keys.has(key) ? key : String(index);
      keys.add(free);
      return { key: free, case: name, state: is, text, cause, run, place, labels: given, cells };
    });
    if (data.live) setTimeout(more, 3000);
  }
  async function more() {
    const answer = await fetch(`${here}.json`).catch(() => null);
    if (!answer || !answer.ok) return setTimeout(more, 3000);
    const before = cases.length;
    take(await answer.json());
    if (cases.length !== before) show();
    return undefined;
  }

  async function begin() {
    readAddress();
    const answer = await fetch(`${here}.json`).catch(() => null);
    if (!answer || !answer.ok) return say("The cases cannot be fetched; what is below is the first of them.");
    take(await answer.json());
    all("th[data-sort]", table).forEach(head);
    const filters = node("tr", "", "filters");
    filters.append(...all("thead th", table).map(filter));
    find("thead", table).append(filters);
    marks();
    show();
    if (at >= 0) look(at, pane.dataset.key !== state.case);
    body.dataset.ready = "";
    return undefined;
  }
  begin();
}
