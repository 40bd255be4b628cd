// Who led when: a track for the group, an axis, and a track a node. A bar leads to its round. Times are in
// milliseconds since the beginning.

// The shapes of what happened to a process, in a box of 12 × 12.
const marks = {
  started: ["started", "M2 1L11 6L2 11Z"],
  ended: ["ended", "M1 3L3 1L6 4L9 1L11 3L8 6L11 9L9 11L6 8L3 11L1 9L4 6Z"],
  silent: ["fell silent", "M6 1A5 5 0 0 1 6 11A5 5 0 0 1 6 1Z"],
  paused: ["was paused", "M2 1H5V11H2ZM7 1H10V11H7Z"],
  suspected: ["was suspected", "M6 0L12 6L6 12L0 6Z"],
  resumed: ["resumed", "M6 1L11 11H1Z"],
};

const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
const tickSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, second, 2 * second, 5 * second, 10 * second,
  15 * second, 30 * second, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour,
  3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day, 364 * day];

class Timeline {
  // choose goes to the round of a term; has tells whether there is one.
  constructor(box, data, choose, has) {
    this.data = data;
    this.choose = choose;
    this.has = has;
    this.placed = []; // [element, from, until]
    this.bars = [];
    this.happened = data.rows.map(() => []); // per row: {e, event}, in order
    this.said = box.querySelector(".said");
    box.querySelector(".when").textContent = `${data.took} from ${data.from}`;
    const tracks = box.querySelector(".tracks"), head = document.createElement("div");
    head.className = "whole";
    tracks.append(head);
    const all = this.track(head, "all");
    this.axis = this.track(head, "UTC");
    this.axis.className = "axis";
    data.state.forEach(bar => this.bar(all, bar));
    const rows = data.rows.map(id => this.track(tracks, id));
    data.bars.forEach(bar => this.bar(rows[bar.row], bar));
    data.events.forEach(event => this.event(rows[event.row], event));
    for (const row of this.happened) row.sort((a, b) => a.event.at - b.event.at);
    this.legend(box.querySelector(".events"));
    this.warp(data);
    this.lens = box.querySelector(".lens");
    this.lens.addEventListener("change", () => this.place());
    box.hidden = false;
    this.place();
    new ResizeObserver(() => this.place()).observe(this.axis);
  }

  track(box, name) {
    const row = document.createElement("div"), label = document.createElement("span");
    const track = document.createElement("div");
    row.className = name === "all" ? "track all" : "track";
    label.textContent = name;
    label.title = name;
    row.append(label, track);
    box.append(row);
    return track;
  }

  bar(track, bar) {
    const leads = bar.term && this.has(bar.term), whole = track.parentElement.classList.contains("all");
    const e = document.createElement(leads ? "button" : "span");
    e.className = `span ${bar.kind} h${bar.hue}`;
    // What the bar reads, the first of these that fits.
    let texts = [];
    if (bar.kind === "leads") texts = [`term ${bar.term}`];
    if (bar.kind === "leads" && whole) texts = [`node ${bar.leader}, term ${bar.term}`, bar.leader];
    if (bar.kind === "overlap") texts = ["two leaders", "2!"];
    if (leads) {
      e.type = "button";
      e.dataset.term = bar.term;
      e.addEventListener("click", () => this.choose(bar.term));
    } else e.setAttribute("role", "img");
    // The tracks repeat each other; one stop a leadership is enough for the keyboard.
    e.tabIndex = whole ? 0 : -1;
    this.says(e, bar.text);
    track.append(e);
    this.bars.push([e, bar]);
    this.placed.push([e, bar.from, bar.until, texts]);
  }

  event(track, event) {
    const e = document.createElement("span");
    e.className = "happened";
    e.setAttribute("role", "img");
    e.tabIndex = -1;
    this.shape(e, event.kind, event.known);
    this.says(e, event.text);
    track.append(e);
    this.placed.push([e, event.at]);
    this.happened[event.row].push({ e, event });
  }

  // shape draws the mark of an event: filled on its own word, hollow if its peers saw it, with a ? if inferred.
  shape(box, kind, known) {
    const svg = element("svg", { viewBox: "-1 -1 14 14", class: `mark-of ${known}` }, box);
    element("path", { d: (marks[kind] || marks.silent)[1] }, svg);
    if (known === "inferred") box.append("?");
  }

  // says shows a text where there is no pointer to hover with, too.
  says(e, text) {
    this.text(e, text);
    for (const when of ["pointerenter", "focus", "click"]) {
      e.addEventListener(when, () => { this.said.textContent = e.title; });
    }
  }

  text(e, text) {
    e.title = text;
    e.setAttribute("aria-label", text);
  }

  legend(box) {
    const kinds = Object.keys(marks).filter(kind => this.data.events.some(e => e.kind === kind));
    const entry = (kind, known, text) => {
      const e = document.createElement("span");
      e.className = "entry";
      this.shape(e, kind, known);
      e.append(` ${text}`);
      box.append(e, " ");
    };
    for (const kind of kinds) entry(kind, "own", marks[kind][0]);
    if (!kinds.length) return;
    entry("silent", "own", "filled: its own word");
    entry("silent", "peers", "hollow: its peers saw it");
    entry("silent", "inferred", "with ?: inferred");
  }

  // warp prepares the lens: each time between two changes has a width that grows with its logarithm, since
  // rounds take milliseconds, and leaderships days.
  warp(data) {
    const all = [0, data.length, ...this.placed.flatMap(([, from, until]) => [from, until ?? from])];
    this.instants = [...new Set(all)].sort((a, b) => a - b);
    this.warped = new Map();
    let at = 0;
    this.instants.forEach((t, i) => {
      if (i) at += 0.5 + Math.log2(1 + 10 * (t - this.instants[i - 1]));
      this.warped.set(t, at);
    });
    this.whole = at;
  }

  // at is the place of a time, as a part of the width. Through the lens, it has to be that of a change.
  at(t) {
    if (!this.lens.checked) return t / this.data.length;
    return this.warped.get(t) / this.whole;
  }

  place() {
    const width = this.axis.clientWidth;
    for (const [e, from, until, texts] of this.placed) {
      e.style.left = `${100 * this.at(from)}%`;
      if (!texts) continue;
      const part = this.at(until) - this.at(from);
      e.style.width = `${100 * part}%`;
      e.textContent = texts.find(text => 6 * text.length + 6 < part * width) || "";
    }
    for (const row of this.happened) this.fold(row, width);
    this.ticks();
  }

  // fold leaves one mark of several of a look that would cover each other. It says how many it stands for.
  fold(row, width) {
    let first = null, more = 0;
    for (const mark of row) {
      const { e, event } = mark, before = first?.event;
      const alike = before && event.kind === before.kind && event.known === before.known;
      const wide = event.known === "inferred" ? 24 : 16; // in pixels
      e.hidden = Boolean(alike && (this.at(event.at) - this.at(before.at)) * width < wide);
      if (e.hidden) this.text(first.e, `${before.text} (and ${++more} more, the last: ${event.text})`);
      else {
        first = mark;
        more = 0;
        this.text(e, event.text);
      }
    }
  }

  // ticks writes times of day below the group's track: at round times, through the lens at those of changes.
  ticks() {
    const { start, length } = this.data, width = this.axis.clientWidth;
    const fits = step => step / length * width > (step < second ? 100 : 64);
    const step = this.lens.checked ? 0 : tickSteps.find(fits) || tickSteps.at(-1);
    const times = [];
    if (!step) times.push(...this.instants);
    else for (let t = Math.ceil(start / step) * step - start; t <= length; t += step) times.push(t);
    const days = iso(start, 0, 10) !== iso(start + length, 0, 10);
    let right = -Infinity, date = "";
    this.axis.replaceChildren();
    this.axis.classList.toggle("days", days);
    for (const t of times) {
      const tick = document.createElement("span"), x = this.at(t) * width;
      const room = step >= day || step >= second ? 30 : 44;
      if (x - room < Math.max(right, -6) || x + room > width + 6) continue;
      right = x + room;
      tick.style.left = `${x}px`;
      const at = Math.round(start + t);
      if (step < day) tick.append(iso(at, 11, step < second ? 23 : step < minute ? 19 : 16));
      if (days && iso(at, 0, 10) !== date) {
        date = iso(at, 0, 10);
        const b = document.createElement("b");
        b.textContent = step > 28 * day ? date.slice(0, 7) : date.slice(5);
        tick.append(b);
      }
      this.axis.append(tick);
    }
  }

  mark(term) {
    for (const [e, bar] of this.bars) e.classList.toggle("chosen", bar.term === term);
  }
}

// iso is a part of a time as ISO 8601 has it.
const iso = (ms, from, to) => new Date(ms).toISOString().slice(from, to);
