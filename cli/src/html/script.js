"use strict";
// Everything is drawn already; this walks through it. Each scene has steps, and rows that say from which
// step until which they stand so.
const scenes = [...document.querySelectorAll(".scene")].map((scene) => {
  const steps = [...scene.querySelectorAll(".steps a")];
  const tables = [...scene.querySelectorAll("table")].map((table) => ({
    table,
    rows: [...table.querySelectorAll("[data-from]")].map((row) => {
      const until = row.dataset.until;
      return { row, from: Number(row.dataset.from), until: until ? Number(until) : Infinity };
    }),
  }));
  const panel = scene.querySelector(".panel");
  const said = scene.querySelector(".said");
  const breaches = scene.querySelectorAll(".panel .breach");
  let at = Math.max(0, steps.findIndex((step) => step.hasAttribute("aria-current")));

  const show = (to, focus) => {
    const old = steps[at];
    at = Math.min(Math.max(to, 0), steps.length - 1);
    const step = steps[at];
    old.removeAttribute("aria-current");
    old.tabIndex = -1;
    step.setAttribute("aria-current", "step");
    step.tabIndex = 0;
    said.textContent = `Step ${at + 1} of ${steps.length}. ${step.textContent}`;
    for (const breach of breaches) breach.hidden = !step.classList.contains("breaks");
    for (const { table, rows } of tables) {
      let stand = 0;
      for (const { row, from, until } of rows) {
        row.hidden = at < from || at >= until;
        row.classList.toggle("now", at === from);
        stand += row.hidden ? 0 : 1;
      }
      table.hidden = stand === 0;
    }
    // What changed is brought into sight, but for the step that breaks: there the sentences count.
    const row = step.classList.contains("breaks") ? null : panel.querySelector("tr.now:not([hidden])");
    panel.scrollTop += row ? row.getBoundingClientRect().top - panel.getBoundingClientRect().top - panel.clientHeight / 2 : -panel.scrollTop;
    step.scrollIntoView({ block: "nearest" });
    if (focus) step.focus({ preventScroll: true });
  };
  const turns = {
    first: () => show(0),
    back: () => show(at - 1),
    on: () => show(at + 1),
    last: () => show(steps.length - 1),
  };
  for (const button of scene.querySelectorAll("[data-turn]")) {
    button.addEventListener("click", turns[button.dataset.turn]);
  }
  steps.forEach((step, number) => {
    step.tabIndex = number === at ? 0 : -1;
    step.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", step.hash);
      show(number, true);
    });
  });
  scene.querySelector(".turn").hidden = false;
  return { scene, steps, show, at: () => at };
});

const shown = ({ scene }) => scene.checkVisibility();
let current = scenes.find(shown);

document.addEventListener("focusin", ({ target }) => {
  current = scenes.find(({ scene }) => scene.contains(target)) ?? current;
});
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  // Arrows scroll a region that has the focus; letters step everywhere.
  if (key.length > 1 && target.closest(".panel, pre, summary")) return;
  if (!current || !shown(current)) current = scenes.find(shown);
  if (!current) return;
  const to = {
    ArrowDown: current.at() + 1, ArrowRight: current.at() + 1, j: current.at() + 1,
    ArrowUp: current.at() - 1, ArrowLeft: current.at() - 1, k: current.at() - 1,
    Home: 0, End: current.steps.length - 1,
  }[key];
  if (to === undefined) return;
  event.preventDefault();
  current.show(to, true);
});
for (const details of document.querySelectorAll("details")) {
  details.addEventListener("toggle", () => {
    const inside = details.open && scenes.find(({ scene }) => details.contains(scene));
    if (inside) {
      current = inside;
      inside.show(inside.at());
    }
  });
}

const aim = () => {
  const step = location.hash && document.getElementById(location.hash.slice(1));
  const found = step && scenes.find(({ steps }) => steps.includes(step));
  if (found) {
    found.scene.closest("details")?.setAttribute("open", "");
    found.show(found.steps.indexOf(step), true);
  }
  return found;
};
addEventListener("hashchange", aim);
// What is broken is shown at once, unless it is folded away among others.
if (!aim() && current?.steps.some((step) => step.classList.contains("breaks"))) current.show(current.at());
