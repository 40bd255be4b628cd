"use strict";

// The nodes in a circle, as each stands after a step, and the messages that are
// on their way. Nothing here knows of time: place() says where a message is.

const svgNS = "http://www.w3.org/2000/svg";

// element makes an element of SVG with its attributes.
function element(name, attributes, parent) {
  const e = document.createElementNS(svgNS, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (parent) parent.append(e);
  return e;
}

class Stage {
  constructor(box, group) {
    const n = group.nodes.length;
    this.radius = n < 13 ? 19 : Math.max(5, Math.min(15, 420 / n));
    this.svg = element("svg", { viewBox: "0 0 400 400", class: "seq circle", "aria-hidden": "true" }, box);
    const reach = n > 1 ? 160 : 0;
    this.at = group.nodes.map((_, i) => {
      const angle = 2 * Math.PI * i / n - Math.PI / 2;
      return [200 + reach * Math.cos(angle), 200 + reach * Math.sin(angle)];
    });
    if (group.ring && n > 1) this.ring(reach);
    else if (n <= 12) this.mesh();
    this.flights = element("g", {}, this.svg);
    this.nodes = group.nodes.map((id, i) => this.node(id, i, n));
    this.labels = element("g", {}, this.svg);
  }

  ring(reach) {
    element("circle", { class: "way", cx: 200, cy: 200, r: reach }, this.svg);
    const clockwise = element("path", { class: "turn", d: "M-22 6A36 36 0 0 1 22 6" }, this.svg);
    clockwise.setAttribute("transform", "translate(200 196)");
    element("path", { class: "tip", d: "M222 210l-9 -4 8 -6z" }, this.svg);
  }

  mesh() {
    this.at.forEach(([x1, y1], i) => this.at.slice(i + 1).forEach(([x2, y2]) =>
      element("line", { class: "way", x1, y1, x2, y2 }, this.svg)));
  }

  node(id, i, n) {
    const [x, y] = this.at[i];
    const g = element("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` }, this.svg);
    element("circle", { class: "halo", r: this.radius + 5 }, g);
    element("circle", { class: "body", r: this.radius }, g);
    const corner = n < 13 ? this.radius * 0.8 : 0;
    element("path", { class: "cross", d: "M-5 -5l10 10m0 -10l-10 10", transform: `translate(${corner} ${corner})` }, g);
    const room = n < 13 ? 4 : n <= 40 ? 2 : 0;
    const name = element("text", { class: "id", dy: "0.35em" }, g);
    if (id.length > room) { // beside the circle, turned outwards where they are many
      const angle = 360 * i / n - 90, left = angle > 90;
      name.setAttribute("transform", n < 13 ? `translate(0 ${this.radius + 14})`
        : `rotate(${angle + (left ? 180 : 0)}) translate(${(left ? -1 : 1) * (this.radius + 5)} 0)`);
      name.setAttribute("class", n < 13 ? "id outside" : left ? "id outside end" : "id outside start");
    }
    name.textContent = id.length > 8 ? "…" + id.slice(-6) : id;
    return g;
  }

  // show draws the nodes' states; active is the node that took the step.
  show(states, active) {
    states.forEach((s, i) => {
      this.nodes[i].setAttribute("class", `node ${s.s} h${s.h}${i === active ? " active" : ""}`);
    });
  }

  // hide leaves out the nodes for which hidden holds.
  hide(hidden) {
    this.nodes.forEach((g, i) => { g.style.display = hidden(i) ? "none" : ""; });
  }

  // fly draws messages, each at its part of the way: [message, 0…1].
  fly(list) {
    this.flights.replaceChildren();
    this.labels.replaceChildren();
    for (const [m, part] of list) {
      if (m.f === m.t) continue;
      const [x1, y1] = this.at[m.f], [x2, y2] = this.at[m.t];
      const lost = m.delivery === "lost" || m.delivery === "receiver-gone";
      const x = x1 + (x2 - x1) * part, y = y1 + (y2 - y1) * part;
      element("line", { class: `flight k${m.kind.h}${lost ? " lost" : ""}`, x1, y1, x2, y2 }, this.flights);
      element("circle", { class: `dot k${m.kind.h}`, cx: x, cy: y, r: list.length > 60 ? 2.5 : 5 }, this.flights);
      if (list.length <= 6) {
        const inwards = this.nodes.length > 12 ? 0.17 : 0; // off the names of the nodes
        const text = element("text",
          { class: `label k${m.kind.h}`, x: x + (200 - x) * inwards, y: y - 9 + (200 - y) * inwards }, this.labels);
        text.textContent = m.kind.name;
      }
    }
  }
}
