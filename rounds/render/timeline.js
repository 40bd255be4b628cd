// Who led when: a track for the group, and one a node. A bar leads to its round.
class Timeline {
  constructor(box, data, choose) {
    this.bars = [];
    box.querySelector(".when").textContent = `${data.took} from ${data.from}`;
    const tracks = box.querySelector(".tracks");
    const all = this.track(tracks, "all");
    data.state.forEach(bar => this.bar(all, bar, choose));
    const rows = data.rows.map(id => this.track(tracks, id));
    data.bars.forEach(bar => this.bar(rows[bar.row], bar, choose));
    const toScale = box.querySelector(".toscale");
    toScale.addEventListener("change", () => this.place(toScale.checked ? 1 : 0));
    this.place(0);
    box.hidden = false;
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

  bar(track, bar, choose) {
    const e = document.createElement(bar.term ? "button" : "span");
    e.className = `span ${bar.kind} h${bar.hue}`;
    e.title = bar.text;
    if (bar.kind === "leads") e.textContent = `term ${bar.term}`;
    if (bar.kind === "overlap") e.textContent = "two leaders";
    if (bar.term) {
      e.type = "button";
      e.dataset.term = bar.term;
      // The tracks repeat each other; one stop a leadership is enough for the keyboard.
      e.tabIndex = track.parentElement.classList.contains("all") ? 0 : -1;
      e.setAttribute("aria-label", bar.text);
      e.addEventListener("click", () => choose(bar.term));
    }
    track.append(e);
    this.bars.push([e, bar]);
  }

  place(scale) {
    for (const [e, bar] of this.bars) {
      e.style.left = `${100 * bar.from[scale]}%`;
      e.style.width = `${100 * (bar.until[scale] - bar.from[scale])}%`;
    }
  }

  mark(term) {
    for (const [e, bar] of this.bars) e.classList.toggle("chosen", bar.term === term);
  }
}
