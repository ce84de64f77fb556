// SPDX-License-Identifier: BSD-3-Clause
// What the page does beyond showing text: the grid, the table and the details of ranks, the table of messages, zoom
// in time.  All that it knows is in the element #data; nothing of it ever becomes markup.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const MOST_ROWS = 100; // of a table at first, and more with each press of a button
const states = data.states.map(([state]) => state);
const letters = Object.fromEntries(data.states);

// ---- small helpers -----------------------------------------------------------------------------------------------

function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "rect", "title", "text"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on"))
      element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// Black or white, whichever is read better on "#rrggbb" or "#rgb".
function inkOn(background) {
  const digits = background.length === 4 ? [...background.slice(1)].map(digit => digit + digit) : background.slice(1).match(/../g);
  const [red, green, blue] = digits.map(digit => (parseInt(digit, 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000" : "#fff";
}

// ---- ranks: processes are counted through all worlds ---------------------------------------------------------------

const firsts = [];
let processes = 0;
for (const size of data.worlds) {
  firsts.push(processes);
  processes += size;
}

function rankName(process) {
  let world = firsts.length - 1;
  while (world > 0 && firsts[world] > process)
    world--;
  return (world > 0 ? "w" + world + ":" : "") + (process - firsts[world]);
}

// The processes of "0-15,18,20-46:2,w1:0-3"; null for a text that is none.
function processesOf(text) {
  const found = [];
  let world = 0;
  for (const item of text.replace(/\s+/g, "").split(",")) {
    const parts = /^(?:w(\d+):)?(\d+)(?:-(\d+))?(?::(\d+))?$/.exec(item);
    if (!parts)
      return null;
    world = parts[1] === undefined ? 0 : Number(parts[1]);
    const first = Number(parts[2]);
    const last = parts[3] === undefined ? first : Number(parts[3]);
    const step = Math.max(1, Number(parts[4] || 1));
    for (let rank = first; rank <= last && rank < (data.worlds[world] || 0); rank += step)
      found.push(firsts[world] + rank);
  }
  return found;
}

const classOf = new Int32Array(processes).fill(-1);
data.classes.forEach((one, index) => {
  for (const process of processesOf(one.ranks) || [])
    classOf[process] = index;
});

const suspects = new Set(data.suspects ? processesOf(data.suspects) : []);

const hostOf = new Int32Array(processes).fill(-1);
data.hosts.forEach((host, index) => {
  for (const process of processesOf(host.ranks) || [])
    hostOf[process] = index;
});

const shown = []; // the processes that the page is about
for (let process = 0; process < processes; process++) {
  if (classOf[process] >= 0)
    shown.push(process);
}

function classFor(process) {
  return data.classes[classOf[process]];
}

// What a column shows of a process.
const columns = [
  { title: "Rank", number: true, of: process => rankName(process), key: process => process },
  { title: "Host", of: process => hostOf[process] < 0 ? "" : data.hosts[hostOf[process]].name },
  { title: "Pid", number: true, of: process => data.rows ? data.rows[process][0] || "" : "" , key: process => data.rows ? data.rows[process][0] : 0 },
  { title: "State", of: process => classFor(process).state, key: process => states.indexOf(classFor(process).state) },
  { title: "Call", of: process => classFor(process).call || "" },
  { title: "For", number: true, of: process => data.rows ? data.rows[process][1] : classFor(process).for || "",
    key: process => data.rows ? data.rows[process][3] : classFor(process).since },
  { title: "At", of: process => classFor(process).at || "" },
  { title: "Waiting for", of: process => data.rows ? data.rows[process][2] : classFor(process).waits || "" },
];

function sentence(process) {
  const one = classFor(process);
  return ["rank " + rankName(process) + ": " + one.state, one.call && "in " + one.call, one.at && "at " + one.at,
    columns[7].of(process) && "waits for " + columns[7].of(process)].filter(Boolean).join(", ");
}

// ---- the chain from a rank -----------------------------------------------------------------------------------------

const awaited = []; // of each process: an offset to one other, a text of ranks, or null
if (data.awaited) {
  for (const [count, value] of data.awaited) {
    for (let i = 0; i < count; i++)
      awaited.push(value);
  }
}

function awaitedBy(process) {
  const value = awaited[process];
  if (value === null || value === undefined)
    return [];
  return typeof value === "number" ? [process + value] : processesOf(value) || [];
}

// From a process to one that waits for nobody, or to one that the chain has had already.
function chainFrom(process) {
  const steps = [];
  const seen = new Set();
  while (process !== undefined && !seen.has(process) && steps.length < 100) {
    seen.add(process);
    const next = awaitedBy(process);
    steps.push({ process, next });
    process = next.find(one => suspects.has(one) && !seen.has(one)) ?? next[0];
  }
  return { steps, circle: process !== undefined && seen.has(process) ? process : -1 };
}

function chainList(process) {
  const { steps, circle } = chainFrom(process);
  const list = make("ol", { class: "chain" });
  for (const step of steps)
    list.append(make("li", {}, classOf[step.process] >= 0 ? sentence(step.process) : "rank " + rankName(step.process)));
  if (circle >= 0)
    list.append(make("li", { class: "bad" }, "back to rank " + rankName(circle) + ": a circle"));
  return list;
}

// ---- a table that sorts --------------------------------------------------------------------------------------------

function sortableTable(caption, heads, draw) {
  const order = { column: 0, down: false };
  const row = make("tr");
  const body = make("tbody");
  const table = make("table", {}, make("caption", { class: "hidden" }, caption), make("thead", {}, row), body);
  heads.forEach((head, index) => {
    const button = make("button", { type: "button", onclick: () => {
      order.down = order.column === index && !order.down;
      order.column = index;
      show();
    } }, head.title);
    row.append(make("th", { scope: "col", class: head.number ? "number" : undefined }, button));
  });
  function show() {
    [...row.children].forEach((cell, index) =>
      cell.setAttribute("aria-sort", index !== order.column ? "none" : order.down ? "descending" : "ascending"));
    draw(body, order);
  }
  return { table, show };
}

function compare(head, down) {
  const key = head.key || head.of;
  return (a, b) => {
    const left = key(a), right = key(b);
    const less = typeof left === "number" && typeof right === "number" ? left - right : String(left).localeCompare(String(right));
    return down ? -less : less;
  };
}

// ---- filter --------------------------------------------------------------------------------------------------------

const filter = { ranks: null, state: "", call: "", comm: "" };

function passes(process) {
  const one = classFor(process);
  return (!filter.ranks || filter.ranks.has(process)) && (!filter.state || one.state === filter.state) &&
    (!filter.call || one.call === filter.call) && (!filter.comm || one.comm === filter.comm);
}

function choices(name) {
  return [...new Set(data.classes.map(one => one[name]).filter(Boolean))].sort();
}

function select(label, name, change) {
  const list = make("select", { onchange: event => { filter[name] = event.target.value; change(); } }, make("option", { value: "" }, "all"));
  for (const choice of choices(name))
    list.append(make("option", { value: choice }, choice));
  return make("label", {}, label + " ", list);
}

function filterTools(change) {
  const input = make("input", { type: "text", size: 12, placeholder: "0-3,7", id: "filter-ranks", oninput: () => {
    const found = input.value.trim() ? processesOf(input.value) : undefined;
    input.setAttribute("aria-invalid", found === null);
    filter.ranks = found ? new Set(found) : null;
    change();
  } });
  return make("div", { class: "tools", role: "search", "aria-label": "filter ranks" }, make("label", {}, "Ranks ", input),
    select("State", "state", change), select("Call", "call", change), select("Communicator", "comm", change));
}

// ---- the grid of ranks ---------------------------------------------------------------------------------------------

function makeGrid(open) {
  const canvas = make("canvas", { tabindex: 0, role: "img", id: "grid" });
  const told = make("p", { class: "small", "aria-live": "polite", id: "grid-told" }, "Arrow keys or the pointer show a rank, Enter opens it.");
  const legend = make("p", { class: "legend" });
  let at = 0, across = 1, cell = 1;
  const counts = new Map();
  for (const process of shown)
    counts.set(classFor(process).state, (counts.get(classFor(process).state) || 0) + 1);
  canvas.setAttribute("aria-label", "Ranks coloured by state: " + [...counts].map(([state, count]) => count + " " + state).join(", "));

  function drawLegend() {
    legend.replaceChildren(...states.filter(one => counts.has(one)).map(state => make("span", { class: "key" },
      make("span", { class: "swatch", style: "background: var(--" + state + "); color: " + inkOn(colour(state)) }, letters[state]),
      " " + state + " (" + counts.get(state) + ") ")));
    if (suspects.size > 0)
      legend.append(make("span", { class: "key" }, make("span", { class: "swatch framed" }, "\u00a0"), " to look at first (" + suspects.size + ")"));
  }
  function draw() {
    drawLegend();
    const width = canvas.parentElement.clientWidth || 300;
    cell = Math.max(3, Math.min(26, Math.floor(Math.sqrt(width * 320 / Math.max(1, shown.length)))));
    across = Math.max(1, Math.floor(width / cell));
    const ratio = window.devicePixelRatio || 1;
    const rows = Math.ceil(shown.length / across);
    canvas.width = Math.min(across, shown.length) * cell * ratio;
    canvas.height = rows * cell * ratio;
    canvas.style.width = canvas.width / ratio + "px";
    canvas.style.height = canvas.height / ratio + "px";
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const colours = Object.fromEntries(states.map(state => [state, colour(state)]));
    const gap = cell > 4 ? 1 : cell > 3 ? 0.5 : 0;
    pen.font = Math.floor(cell * 0.55) + "px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    shown.forEach((process, index) => {
      const x = index % across * cell, y = Math.floor(index / across) * cell;
      const state = classFor(process).state;
      pen.globalAlpha = passes(process) ? 1 : 0.15;
      pen.fillStyle = colours[state];
      pen.fillRect(x, y, cell - gap, cell - gap);
      if (cell >= 14) {
        pen.fillStyle = inkOn(colours[state]);
        pen.fillText(cell >= 22 ? rankName(process) : letters[state], x + cell / 2, y + cell / 2);
      }
    });
    pen.globalAlpha = 1;
    pen.strokeStyle = colour("ink");
    pen.lineWidth = 2;
    const frame = Math.max(cell - gap - 2, 9), inset = (cell - gap - frame) / 2; // seen among many thousands, too
    shown.forEach((process, index) => {
      if (suspects.has(process))
        pen.strokeRect(index % across * cell + inset, Math.floor(index / across) * cell + inset, frame, frame);
    });
    pen.strokeStyle = colour("link");
    pen.lineWidth = 3;
    if (document.activeElement === canvas)
      pen.strokeRect(at % across * cell, Math.floor(at / across) * cell, cell, cell);
  }
  function tell() {
    told.textContent = shown.length ? sentence(shown[at]) : "";
  }
  const moves = { ArrowLeft: () => -1, ArrowRight: () => 1, ArrowUp: () => -across, ArrowDown: () => across,
    Home: () => -at, End: () => shown.length - 1 - at };
  canvas.addEventListener("keydown", event => {
    if (event.key === "Enter" && shown.length)
      open(shown[at]);
    if (!moves[event.key])
      return;
    event.preventDefault();
    at = Math.max(0, Math.min(shown.length - 1, at + moves[event.key]()));
    tell();
    draw();
  });
  function under(event) {
    const column = Math.floor(event.offsetX / cell), row = Math.floor(event.offsetY / cell);
    const index = row * across + column;
    return column < across && index >= 0 && index < shown.length ? index : -1;
  }
  canvas.addEventListener("mousemove", event => {
    const index = under(event);
    if (index >= 0)
      told.textContent = sentence(shown[index]);
  });
  canvas.addEventListener("click", event => {
    const index = under(event);
    if (index < 0)
      return;
    at = index;
    open(shown[at]);
  });
  canvas.addEventListener("focus", () => { tell(); draw(); });
  canvas.addEventListener("blur", draw);
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return { element: make("div", {}, legend, make("div", {}, canvas), told), draw };
}

// ---- what is known of one rank -------------------------------------------------------------------------------------

const queueNames = ["sends", "receives", "unexpected messages"];

function messageText(message) {
  const [, queue, kind, peer, tag, comm, bytes] = message;
  return (queue === 2 ? "message" : kind) + (queue === 0 ? " to " : " from ") + (peer === "any" ? "any rank" : peer === "" ? "a rank not known" : "rank " + peer) +
    ", tag " + tag + " on " + data.comms[comm] + (bytes >= 0 ? ", " + bytes + " bytes" : "");
}

function openRank(process) {
  const place = document.getElementById("rank");
  place.replaceChildren(make("h3", { tabindex: -1 }, "Rank " + rankName(process)), make("p", {}, sentence(process)),
    make("h4", {}, "Whom it waits for in the end"), data.awaited ? chainList(process) : make("p", {}, "mpiq why " + rankName(process) + " shows it."));
  place.append(make("h4", {}, "Message queues"));
  const own = data.messages.filter(message => message[0] === process);
  for (const message of own.slice(0, MOST_ROWS))
    place.append(make("p", { class: "in" }, queueNames[message[1]] + ": " + messageText(message)));
  if (own.length === 0)
    place.append(make("p", { class: "in" }, data.messages_left_out > 0 ? "mpiq queues --ranks " + rankName(process) + " shows them." : "empty, or not readable"));
  const calls = data.history[rankName(process)];
  place.append(make("h4", {}, "Last MPI calls, the newest first"));
  if (!calls)
    place.append(make("p", { class: "in" }, data.history_left_out ? "mpiq history " + rankName(process) + " shows them." : "not recorded"));
  for (const call of calls || [])
    place.append(make("p", { class: "in" }, call));
  place.hidden = false;
  place.firstChild.focus();
  place.scrollIntoView({ block: "nearest" });
}

// ---- the table of ranks --------------------------------------------------------------------------------------------

function makeRankTable() {
  let most = MOST_ROWS;
  let last = null;
  const more = make("button", { type: "button", class: "more", onclick: () => { most += MOST_ROWS * 5; draw(last.body, last.order); } });
  const count = make("p", { class: "small", role: "status", id: "rank-count" });
  function draw(body, order) {
    last = { body, order };
    const rows = shown.filter(passes);
    if (order.column > 0 || order.down)
      rows.sort(compare(columns[order.column], order.down));
    body.replaceChildren(...rows.slice(0, most).map(process => make("tr", { class: suspects.has(process) ? "bad" : undefined },
      ...columns.map((column, index) => make("td", { class: column.number ? "number" : undefined },
        index === 0 ? make("button", { type: "button", class: "open", "aria-label": "open rank " + rankName(process), onclick: () => openRank(process) }, rankName(process))
          : String(column.of(process)))))));
    count.textContent = rows.length + " of " + shown.length + " ranks";
    more.hidden = rows.length <= most;
    more.textContent = "Show more of the " + rows.length + " ranks";
  }
  const { table, show } = sortableTable("Ranks", columns, draw);
  return { element: make("div", {}, count, make("div", { class: "scroll" }, table), more), show };
}

// ---- messages ------------------------------------------------------------------------------------------------------

function makeMatrix() {
  const { bins, per, cells } = data.matrix;
  const size = Math.max(6, Math.min(24, Math.floor(400 / bins)));
  const letterCount = Math.max(...[...Array(bins).keys()].map(bin => rankName(bin * per).length));
  const left = 14 + 8 * letterCount, width = bins * size + left + 8 * letterCount;
  const svg = make("svg", { width, height: bins * size + 34, viewBox: `0 0 ${width} ${bins * size + 34}`, role: "img",
    "aria-label": "Messages from each rank (down) to each rank (across)", class: "matrix" });
  const most = Math.max(1, ...cells.map(cell => cell[2] + cell[3] + cell[4]));
  const name = bin => per === 1 ? rankName(bin) : rankName(bin * per) + "-" + rankName(Math.min(processes, (bin + 1) * per) - 1);
  svg.append(make("rect", { class: "floor", x: left, y: 20, width: bins * size, height: bins * size }));
  for (let bin = 0; bin < bins; bin += Math.ceil(16 / size))
    svg.append(make("text", { x: left - 4, y: 20 + bin * size + Math.min(size - 2, 12), class: "end" }, rankName(bin * per)));
  for (let bin = 0; bin < bins; bin += Math.ceil((10 + 8 * letterCount) / size))
    svg.append(make("text", { x: left + bin * size, y: 14 }, rankName(bin * per)));
  for (const [from, to, sends, receives, unexpected] of cells) {
    const kind = unexpected ? "unexpected" : sends ? "sends" : "receives";
    const words = [sends && sends + " pending sends", receives && receives + " receives waiting", unexpected && unexpected + " unexpected"].filter(Boolean).join(", ");
    svg.append(make("rect", { class: "cell " + kind, x: left + to * size, y: 20 + from * size, width: size - 1, height: size - 1,
      "fill-opacity": 0.35 + 0.65 * (sends + receives + unexpected) / most },
      make("title", {}, "from " + name(from) + " to " + name(to) + ": " + words)));
  }
  return make("div", {}, make("p", { class: "small" }, "Senders down, receivers across" + (per > 1 ? ", " + per + " ranks a cell" : "") + ". ",
    make("span", { class: "key" }, make("span", { class: "swatch unexpected" }, "u"), " unexpected "),
    make("span", { class: "key" }, make("span", { class: "swatch sends" }, "s"), " pending sends "),
    make("span", { class: "key" }, make("span", { class: "swatch receives" }, "r"), " receives that wait")), make("div", { class: "scroll" }, svg));
}

const messageColumns = [
  { title: "Rank", number: true, of: message => rankName(message[0]), key: message => message[0] },
  { title: "Queue", of: message => queueNames[message[1]] },
  { title: "Kind", of: message => message[2] },
  { title: "Peer", number: true, of: message => message[3], key: message => Number(message[3]) },
  { title: "Tag", number: true, of: message => message[4], key: message => Number(message[4]) },
  { title: "Communicator", of: message => data.comms[message[5]] || "" },
  { title: "Bytes", number: true, of: message => message[6] >= 0 ? message[6] : "", key: message => message[6] },
  { title: "Status", of: message => message[7] },
];

function makeMessageTable() {
  let most = MOST_ROWS;
  let last = null;
  const more = make("button", { type: "button", class: "more", onclick: () => { most += MOST_ROWS * 5; draw(last.body, last.order); } });
  function draw(body, order) {
    last = { body, order };
    const rows = data.messages.filter(message => classOf[message[0]] >= 0 && passes(message[0]));
    rows.sort(compare(messageColumns[order.column], order.down));
    body.replaceChildren(...rows.slice(0, most).map(message => make("tr", {},
      ...messageColumns.map(column => make("td", { class: column.number ? "number" : undefined }, String(column.of(message)))))));
    more.hidden = rows.length <= most;
    more.textContent = "Show more of the " + rows.length + " operations";
  }
  const { table, show } = sortableTable("Messages", messageColumns, draw);
  return { element: make("div", {}, make("div", { class: "scroll" }, table), more), show };
}

// ---- zoom in time --------------------------------------------------------------------------------------------------

function makeZoom(svg) {
  const box = svg.viewBox.baseVal;
  const width = box.width;
  let scale = 1;
  function zoom(factor) {
    scale = Math.max(1, Math.min(32, scale * factor));
    for (const element of svg.querySelectorAll("[x], [d], [x1]")) {
      if (!element.dataset.x) {
        element.dataset.x = element.getAttribute("d") || element.getAttribute("x") || "";
        element.dataset.width = element.getAttribute("width") || "";
      }
      if (element.closest(".fixed"))
        continue;
      if (element.hasAttribute("d"))
        element.setAttribute("d", element.dataset.x.replace(/([ML])(-?[\d.]+)/g, (whole, letter, x) => letter + place(Number(x))));
      else
        element.setAttribute("x", place(Number(element.dataset.x)));
      if (element.dataset.width && element.tagName === "rect")
        element.setAttribute("width", Number(element.dataset.width) * scale);
    }
    svg.setAttribute("viewBox", `0 0 ${place(width)} ${box.height}`);
    svg.setAttribute("width", place(width));
  }
  const left = Number(svg.dataset.left);
  function place(x) {
    return x <= left ? x : left + (x - left) * scale;
  }
  const tools = make("div", { class: "tools", role: "group", "aria-label": "zoom in time" },
    make("button", { type: "button", onclick: () => zoom(2) }, "Zoom in"), make("button", { type: "button", onclick: () => zoom(0.5) }, "Zoom out"),
    make("button", { type: "button", onclick: () => zoom(1 / 32) }, "All"));
  svg.parentElement.before(tools);
}

// ---- all together --------------------------------------------------------------------------------------------------

function start() {
  const time = document.querySelector("time");
  if (time)
    time.append(" (" + new Date(time.dateTime).toLocaleString() + " local time)");
  const ranks = document.getElementById("ranks-tools");
  if (ranks && shown.length > 0) {
    const grid = makeGrid(openRank);
    const table = makeRankTable();
    const messages = data.messages.length > 0 ? makeMessageTable() : null;
    const change = () => { grid.draw(); table.show(); messages?.show(); };
    ranks.replaceChildren(filterTools(change), grid.element, make("div", { id: "rank", class: "rank", hidden: true }), table.element);
    table.show();
    grid.draw();
    if (messages) {
      document.getElementById("messages-tools").replaceChildren(makeMatrix(), messages.element);
      if (data.messages_left_out > 0)
        document.getElementById("messages-tools").append(make("p", { class: "small" }, data.messages_left_out + " more operations: mpiq queues shows them all."));
      document.getElementById("messages").hidden = false;
      messages.show();
    }
  }
  document.querySelectorAll("svg.history").forEach(makeZoom);
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach(details => { details.open = true; });
  });
  window.addEventListener("afterprint", () => opened.forEach(details => { details.open = false; }));
}

start();
