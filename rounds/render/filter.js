// A Filter hides nodes and kinds of messages, in the diagram of a round and in its replay. What is hidden stays so
// from round to round of a group.
class Filter {
  constructor(root, group, round, changed) {
    this.group = group;
    this.round = round;
    this.drawing = root.querySelector(".diagram svg");
    this.changed = changed;
    this.hidden = group.hidden ||= { nodes: new Set(), kinds: new Set(), open: false };
    this.box = document.createElement("details");
    this.box.open = this.hidden.open;
    this.box.addEventListener("toggle", () => { this.hidden.open = this.box.open; });
    this.summary = document.createElement("summary");
    this.box.append(this.summary,
      this.choices("Nodes", "nodes", group.nodes.map(name => ({ name }))),
      this.choices("Messages", "kinds", round.kinds));
    root.querySelector(".filter").append(this.box);
    this.apply();
  }

  // choices is a box to tick for each item. Items are known by their names: other rounds have other kinds.
  choices(title, what, items) {
    const set = document.createElement("fieldset"), legend = document.createElement("legend");
    legend.textContent = title;
    set.append(legend);
    const hidden = this.hidden[what], boxes = [];
    for (const { name, letter, h } of items) {
      const label = document.createElement("label"), box = document.createElement("input");
      box.type = "checkbox";
      box.dataset[what] = name;
      box.addEventListener("change", () => {
        hidden[box.checked ? "delete" : "add"](name);
        this.apply();
      });
      boxes.push([box, name]);
      label.append(box);
      if (letter) {
        const sign = document.createElement("b");
        sign.className = `sign k${h}`;
        sign.textContent = letter;
        label.append(sign);
      }
      label.append(name);
      set.append(label);
    }
    const show = () => boxes.forEach(([box, name]) => { box.checked = !hidden.has(name); });
    for (const all of [true, false]) {
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = all ? "all" : "none";
      b.setAttribute("aria-label", `${b.textContent} of the ${title.toLowerCase()}`);
      b.addEventListener("click", () => {
        for (const { name } of items) hidden[all ? "delete" : "add"](name);
        show();
        this.apply();
      });
      set.append(b);
    }
    show();
    return set;
  }

  node(lane) { return this.hidden.nodes.has(this.group.nodes[lane]); }
  kind(index) { return this.hidden.kinds.has(this.round.kinds[index]?.name); }
  message(m) { return this.kind(m.k) || this.node(m.f) || this.node(m.t); }

  apply() {
    for (const e of this.drawing.querySelectorAll("[data-n], [data-k]")) {
      const { n, k, f, t } = e.dataset;
      e.classList.toggle("off", this.node(n) || this.kind(k) || this.node(f) || this.node(t));
      if (k && !t && e.hasAttribute("d")) this.lines(e);
    }
    const count = (what, all) => {
      const hidden = all.filter(name => this.hidden[what].has(name)).length;
      return hidden ? `${all.length - hidden} of ${all.length}` : "all";
    };
    this.summary.textContent = `Show ${count("nodes", this.group.nodes)} nodes, ` +
      `${count("kinds", this.round.kinds.map(kind => kind.name))} kinds of messages`;
    this.changed();
  }

  // lines hides the lines of a path with many messages that begin or end on a hidden lane.
  lines(path) {
    path.dataset.d ||= path.getAttribute("d");
    const lane = x => this.round.x.indexOf(Number(x));
    path.setAttribute("d", path.dataset.d.split(/(?=M)/).filter(line => {
      const [, from, , to] = line.match(/^M(\S+) ([^\sLHv]+)(?:[LH](\S+))?/) || [];
      return !this.node(lane(from)) && !(to && this.node(lane(to)));
    }).join(""));
  }
}
