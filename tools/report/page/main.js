// Puts the page together, and again when the theme or the choice of runs changes.

const kMostShown = 3;  // runs at first, where there are more

// Names by which runs are told apart: those given, else folders, with as much of their paths as that takes.
function labelRuns(runs) {
  runs.forEach((run, i) => {
    run.number = i;
    const parts = run.folder.split("/").filter(Boolean);
    if (run.name !== (parts.at(-1) ?? "")) {
      run.label = run.name;
      return;
    }
    const clash = (depth) => runs.some((other) => other !== run && other.folder.split("/").filter(Boolean).slice(-depth).join("/") === parts.slice(-depth).join("/"));
    let depth = 1;
    while (depth < parts.length && clash(depth)) ++depth;
    run.label = parts.slice(-depth).join("/") || `run ${i + 1}`;
    if (clash(depth)) run.label += ` (${i + 1})`;
  });
}

// What the user chose; kept for this page only. `open`: sections that are unfolded.
const state = {runs: [], shown: new Set(), open: new Set(), all: false, theme: "auto"};

function applyTheme(theme) {
  const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function runChoice() {
  if (state.runs.length <= kMostShown) return null;
  return element("div", {class: "controls"}, "Details of:", ...state.runs.map((run) => element("label", {}, element("input", {
    type: "checkbox", checked: state.shown.has(run.number), onchange: (event) => {
      if (event.target.checked) state.shown.add(run.number);
      else state.shown.delete(run.number);
      render();
    },
  }), runMark(run), run.label)));
}

// A line about what is behind each title, as sections are folded at first.
const kAbout = {
  compare: "every figure and parameter, side by side", breakdown: "computing, sending and waiting, by job and by rank", exposed: "what computing waited for, by axis",
  "critical-path": "the one chain that set the runtime", timeline: "what each rank did when", messages: "completion times by size and distance",
  network: "the drawing, with the load of every link", links: "the busiest, with queues and losses", series: "queues, load and losses",
  jobs: "when they ran, and who slowed whom", cost: "parts, dollars and watts", acted: "marks, losses, timeouts and other signals", order: "packets that overtook each other",
  warnings: "all of them", "left-out": "what the figures do not cover", parameters: "as the run had it", origin: "files, versions and digests",
};

function sectionOf(section, runs) {
  const body = element("section", {id: section.id, "aria-label": section.title});
  if (section.bare) {
    section.render(body, runs);
    return body;
  }
  const inside = element("div", {class: "inside"});
  section.render(inside, runs);
  const fold = element("details", {open: state.all || state.open.has(section.id)},
                       element("summary", {}, element("h2", {}, section.title), element("span", {class: "note"}, kAbout[section.id])), inside);
  fold.addEventListener("toggle", () => {
    if (!fold.isConnected) return;  // of a page before this one
    if (fold.open) state.open.add(section.id);
    else state.open.delete(section.id);
  });
  body.append(fold);
  return body;
}

function unfold(id) {
  document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
}

function foldAll(all) {
  state.all = all;
  state.open.clear();
  const button = document.getElementById("fold");
  button.textContent = all ? "Fold all" : "Open all";
  button.setAttribute("aria-pressed", String(all));
  render();
  state.all = false;  // each section is by itself from here on
}

// Sections about all runs, and behind them those about the chosen ones.
const kOfAll = new Set(["overview", "compare"]);

function render() {
  const content = document.getElementById("content"), nav = document.getElementById("sections"), at = scrollY;
  content.replaceChildren();
  nav.replaceChildren();
  const chosen = state.runs.filter((run) => state.shown.has(run.number));
  let told = false;
  for (const section of kSections) {
    const runs = kOfAll.has(section.id) ? state.runs : chosen;
    if (runs.length === 0 || !section.shown(runs)) continue;
    if (!kOfAll.has(section.id) && !told) {
      told = true;
      const choice = runChoice();
      if (choice) content.append(element("section", {}, choice));
    }
    content.append(sectionOf(section, runs));
    nav.append(element("a", {href: `#${section.id}`, onclick: () => unfold(section.id)}, section.title));
  }
  if (chosen.length === 0) content.append(element("section", {}, runChoice()));
  content.removeAttribute("aria-busy");
  scrollTo(0, at);
  followSections();
}

// The section that is read now stands out in the list.
let follower = null;
function followSections() {
  follower?.disconnect();
  const links = new Map([...document.querySelectorAll("#sections a")].map((link) => [link.hash.slice(1), link]));
  follower = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.classList.remove("here"));
      links.get(entry.target.id)?.classList.add("here");
    }
  }, {rootMargin: "-10% 0px -80% 0px"});
  links.forEach((_, id) => follower.observe(document.getElementById(id)));
}

function listen() {
  const themes = ["auto", "light", "dark"], names = {auto: "Auto", light: "Light", dark: "Dark"};
  const button = document.getElementById("theme");
  button.addEventListener("click", () => {
    state.theme = themes[(themes.indexOf(state.theme) + 1) % themes.length];
    button.textContent = names[state.theme];
    button.setAttribute("aria-label", `Colours: ${state.theme === "auto" ? "as the system has them" : state.theme}`);
    applyTheme(state.theme);
    render();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    applyTheme(state.theme);
    render();
  });
  document.getElementById("print").addEventListener("click", () => print());
  document.getElementById("fold").addEventListener("click", (event) => foldAll(event.target.getAttribute("aria-pressed") !== "true"));
  // Paper is white, and can't be unfolded.
  let before = new Set();
  addEventListener("beforeprint", () => { before = new Set(state.open); state.all = true; applyTheme("light"); render(); });
  addEventListener("afterprint", () => { state.all = false; state.open = before; applyTheme(state.theme); render(); });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
}

async function start() {
  const content = document.getElementById("content");
  try {
    const data = await unpackedData();
    labelRuns(data.runs);
    state.runs = data.runs;
    state.shown = new Set(data.runs.slice(0, kMostShown).map((run) => run.number));
    applyTheme(state.theme);
    listen();
    render();
    if (location.hash) {
      unfold(location.hash.slice(1));
      document.getElementById(location.hash.slice(1))?.scrollIntoView();
    }
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  } catch (error) {
    content.replaceChildren(element("p", {}, `This page can't be shown: ${error.message}. It needs a browser of 2023 or later.`));
    throw error;
  }
}
start();
