// The page ties the parts together: what is chosen, and the keyboard.

const groups = JSON.parse(document.getElementById("data").textContent) || [];
const rounds = []; // of all groups, in the order of the page
let replay = null;
let chosen = -1;

function choose(index, quietly) {
  if (!rounds[index]) return;
  if (replay) replay.stop();
  chosen = index;
  const { group, round, section, timeline } = rounds[index];
  for (const main of document.querySelectorAll("main.round")) main.replaceChildren();
  const main = section.querySelector("main.round");
  main.append(document.getElementById(round.id).content.cloneNode(true));
  for (const b of document.querySelectorAll("[data-round]")) {
    const current = b.dataset.round === round.id;
    b.setAttribute("aria-current", current);
    if (current) reveal(b);
  }
  for (const r of rounds) if (r.timeline) r.timeline.mark(r.section === section ? round.term : "");
  if (timeline) timeline.mark(round.term);
  replay = new Replay(main, group, round);
  if (!quietly) history.replaceState(null, "", `#${round.id}`);
}

// reveal scrolls the list, not the page.
function reveal(button) {
  const list = button.closest("ol"), item = button.parentElement;
  list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 2;
  list.scrollLeft = item.offsetLeft - list.offsetLeft - list.clientWidth / 2;
}

groups.forEach((group, g) => {
  const section = document.querySelector(`[data-group="${g}"]`);
  const first = rounds.length;
  const own = group.rounds || [];
  const find = term => own.findIndex(r => r.term === term);
  const timeline = group.timeline && new Timeline(section.querySelector(".timeline"), group.timeline,
    term => choose(first + find(term)), term => find(term) >= 0);
  for (const round of own) rounds.push({ group, round, section, timeline });
});
for (const b of document.querySelectorAll("[data-round]")) {
  b.addEventListener("click", () => choose(rounds.findIndex(r => r.round.id === b.dataset.round)));
}

const keys = {
  ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last", " ": "play",
  "-": "slower", "+": "faster", "=": "faster",
};

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !replay) return;
  const on = event.target.closest("button, input, summary, a");
  // What has the focus keeps the keys that mean something to it.
  if (on && (event.key === " " || on.type === "range" && /^(Arrow|Home|End)/.test(event.key))) return;
  if (event.key === "j" || event.key === "k") choose(chosen + (event.key === "j" ? 1 : -1));
  else if (keys[event.key]) replay.act(keys[event.key]);
  else return;
  event.preventDefault();
});

const wanted = rounds.findIndex(r => `#${r.round.id}` === location.hash);
choose(wanted >= 0 ? wanted : rounds.length - 1, true);
