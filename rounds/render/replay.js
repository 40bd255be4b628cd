// A Replay goes through one round, forwards and backwards, step by step or in
// slow motion. Its position is the number of steps taken; all that it shows
// follows from that.

const calm = matchMedia("(prefers-reduced-motion: reduce)");
// How long a real millisecond is shown, in milliseconds.
const speeds = [0.1, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
const leastScale = 0.8; // of the diagram, where it does not fit
const longestWait = 2500; // of a pause in which nothing happens, as shown

class Replay {
  constructor(root, group, round) {
    this.root = root;
    this.round = round;
    this.group = group;
    this.steps = round.steps;
    for (const m of round.messages) m.kind = round.kinds[m.k];
    this.stage = new Stage(root.querySelector(".stage"), group);
    this.position = -1;
    this.playing = 0;
    this.speed = this.fitting();
    this.list();
    this.overlay();
    const slider = root.querySelector(".position");
    slider.max = this.steps.length;
    slider.addEventListener("input", () => { this.stop(); this.go(Number(slider.value)); });
    for (const b of root.querySelectorAll("[data-act]")) {
      b.addEventListener("click", () => this.act(b.dataset.act));
    }
    for (const b of root.querySelectorAll("[data-ref]")) {
      const i = this.steps.findIndex(s => s.ref === b.dataset.ref);
      b.disabled = i < 0;
      b.addEventListener("click", () => { this.stop(); this.go(i + 1); });
    }
    this.pace(0);
    this.go(0);
    this.filter = new Filter(root, group, round, () => this.hide());
    this.hide();
  }

  // hide leaves out what the filter hides.
  hide() {
    if (!this.filter) return;
    this.stage.hide(i => this.filter.node(i));
    this.chips.forEach((li, i) => { li.hidden = this.filter.node(i); });
    this.fly();
  }

  fly() {
    this.stage.fly(this.flying(this.position).map(m => [m, lostOnTheWay(m) ? 0.8 : 0.5]));
  }

  // fitting is the speed at which the round takes some 15 seconds.
  fitting() {
    const took = this.steps.length ? this.steps.at(-1).t - this.steps[0].t : 0;
    const i = speeds.findIndex(s => s * took > 15000);
    return i < 0 ? speeds.indexOf(1000) : Math.min(i, speeds.indexOf(1000));
  }

  act(name) {
    if (name !== "play" && name !== "slower" && name !== "faster") this.stop();
    switch (name) {
      case "first": return this.go(0);
      case "back": return this.go(this.position - 1);
      case "next": return this.go(this.position + 1);
      case "last": return this.go(this.steps.length);
      case "play": return this.playing ? this.stop() : this.play();
      case "slower": return this.pace(1);
      case "faster": return this.pace(-1);
    }
  }

  pace(by) {
    this.speed = Math.max(0, Math.min(speeds.length - 1, this.speed + by));
    const shown = speeds[this.speed];
    if (this.playing) this.plan();
    this.root.querySelector(".speed").textContent =
      `1 ms is shown as ${shown >= 1000 ? `${shown / 1000} s` : `${shown} ms`}`;
  }

  // states are the nodes' after so many steps.
  states(position) {
    const states = this.round.before.slice();
    for (const step of this.steps.slice(0, position)) {
      for (const change of step.c) states[change.n] = change;
    }
    return states;
  }

  // go shows the round after so many steps.
  go(position) {
    position = Math.max(0, Math.min(this.steps.length, position));
    if (position === this.position) return;
    this.position = position;
    const step = this.steps[position - 1];
    const states = this.states(position);
    this.stage.show(states, step ? step.n : -1);
    this.fly();
    states.forEach((s, i) => this.chip(i, s, step && step.n === i));
    this.tell(step);
    this.cursor(step);
    this.root.querySelector(".position").value = position;
    this.root.querySelector(".count").textContent = `${position} / ${this.steps.length}`;
    this.root.dataset.position = position;
  }

  // flying are the messages that are on their way after so many steps. One that
  // never arrived is seen until the next step.
  flying(position) {
    const last = position - 1;
    return this.round.messages.filter(m => m.s >= 0 && m.s <= last &&
      (m.r >= 0 ? m.r > last : m.s === last) && !this.filter?.message(m)).slice(0, maxFlights);
  }

  // play runs the round by its times, slowed down. Pauses are cut short, and of
  // steps at the same instant each is seen.
  play() {
    if (this.position >= this.steps.length) this.go(0);
    this.plan();
    this.playing = requestAnimationFrame(now => this.frame(now));
    this.button("Pause");
  }

  stop() {
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.button("Play");
  }

  button(name) {
    const b = this.root.querySelector(".play");
    b.classList.toggle("playing", name === "Pause");
    b.setAttribute("aria-label", name);
    b.title = `${name} (space)`;
  }

  // plan says when each step to come is shown.
  plan() {
    const least = Math.min(150, 12000 / this.steps.length), speed = speeds[this.speed];
    let at = this.position ? 0 : 400;
    this.start = 0;
    this.shown = this.steps.map((step, i) => {
      if (i < this.position) return 0;
      if (i > 0) at += Math.max(least, Math.min(longestWait, (step.t - this.steps[i - 1].t) * speed));
      return at;
    });
  }

  frame(now) {
    this.start ||= now;
    const elapsed = now - this.start;
    let position = this.position;
    while (position < this.steps.length && this.shown[position] <= elapsed) position++;
    this.go(position);
    if (!calm.matches) {
      this.stage.fly(this.flying(position).map(m => [m, this.part(m, elapsed)]));
    }
    if (position >= this.steps.length) return this.stop();
    this.playing = requestAnimationFrame(later => this.frame(later));
  }

  // part is how much of its way a message has behind it.
  part(m, elapsed) {
    const left = this.shown[m.s];
    if (m.r < 0) return Math.min(0.8, (elapsed - left) / 400);
    return Math.min(1, (elapsed - left) / Math.max(1, this.shown[m.r] - left));
  }

  list() {
    const box = this.root.querySelector(".nodes");
    box.classList.toggle("many", this.group.nodes.length > 12);
    this.chips = this.group.nodes.map(id => {
      const li = document.createElement("li");
      li.dataset.node = id;
      li.append(document.createElement("b"), document.createElement("span"));
      li.firstChild.textContent = id;
      box.append(li);
      return li;
    });
  }

  chip(i, s, active) {
    const li = this.chips[i];
    li.className = `${s.s} h${s.h}${active ? " active" : ""}`;
    Object.assign(li.dataset, { stand: s.s, leader: s.l || "0", term: s.t || "0" });
    const words = { unknown: "not known", looking: "knows no leader", gone: "is gone",
      leader: "leads", follower: `follows ${s.l}` };
    const text = words[s.s] + (s.t ? `, term ${s.t}` : "");
    li.lastChild.textContent = text;
    li.title = `node ${li.dataset.node} ${text}`;
  }

  // tell writes what the step is.
  tell(step) {
    const box = this.root.querySelector(".now");
    box.replaceChildren();
    const line = (name, text) => {
      const p = document.createElement("p");
      p.className = name;
      p.textContent = text;
      box.append(p);
    };
    if (!step) return line("head", `Before the round: ${this.steps.length} steps follow.`);
    line("head", `${step.t.toFixed(2)} ms, node ${this.group.nodes[step.n]}`);
    for (const [about, text] of step.text) line(about, text);
    line("soft", `record ${step.ref}, its own clock ${step.wall}`);
  }

  // overlay puts a cursor into the diagram, and a veil over what is to come; before
  // the first step all of it is to be read.
  overlay() {
    this.drawing = this.root.querySelector(".diagram svg");
    this.drawing.style.minWidth = `${leastScale * this.round.width}px`; // a wider one is scrolled
    const g = element("g", { class: "overlay" }, this.drawing);
    this.veil = element("rect", { class: "veil", x: 0, width: this.round.width }, g);
    this.line = element("path", { class: "cursor" }, g);
    this.ring = element("circle", { class: "here", r: 11 }, g);
    this.drawing.addEventListener("click", event => {
      const box = this.drawing.getBoundingClientRect();
      const y = (event.clientY - box.top) * this.drawing.viewBox.baseVal.height / box.height;
      this.stop();
      this.go(this.steps.findLastIndex(s => s.y <= y + 8) + 1);
    });
  }

  cursor(step) {
    const y = step ? step.y : this.steps.length ? this.steps[0].y - 34 : 0;
    const next = this.steps[this.position];
    const veil = step && next ? Math.max(y + 14, Math.min(next.y - 12, y + 60)) : this.round.bottom;
    this.veil.setAttribute("y", veil);
    this.veil.setAttribute("height", Math.max(0, this.round.bottom - veil));
    this.line.setAttribute("d", step ? `M0 ${y}H${this.round.width}` : "");
    this.ring.setAttribute("class", step ? "here" : "here none");
    if (!step) return;
    this.ring.setAttribute("cx", this.round.x[step.n]);
    this.ring.setAttribute("cy", y);
    this.scroll(y);
  }

  // scroll keeps the cursor in sight, within the diagram's own box only.
  scroll(y) {
    const box = this.root.querySelector(".scroll");
    y *= this.drawing.clientWidth / this.round.width;
    if (y < box.scrollTop + 40 || y > box.scrollTop + box.clientHeight - 80) {
      box.scrollTop = y - box.clientHeight / 3;
    }
  }
}

// maxFlights bounds the messages drawn at once.
const maxFlights = 300;

const lostOnTheWay = m => m.delivery === "lost" || m.delivery === "receiver-gone";
