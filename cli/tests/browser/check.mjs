// Opens the pages that it is given from disk, in light and dark, wide and on a phone, and walks through
// them as a person would. `cargo xtask browser` runs it.
//
//     node check.mjs BROWSER [--shots DIRECTORY] PAGE...
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [executablePath, ...rest] = process.argv.slice(2);
const shots = rest[0] === "--shots" ? rest.splice(0, 2)[1] : undefined;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
let checked = 0;

for (const file of rest) {
  for (const scheme of ["light", "dark"]) {
    for (const width of [1280, 360]) {
      try {
        await look(file, scheme, width);
        checked += 1;
      } catch (error) {
        await browser.close();
        throw new Error(`${file}, ${scheme}, ${width} wide: ${error.message}`);
      }
    }
  }
}
await browser.close();
console.log(`${checked} passed, 0 failed`);

async function look(file, scheme, width) {
  const page = await browser.newPage();
  const url = pathToFileURL(resolve(file)).href;
  const asked = [];
  const errors = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.setViewport({ width, height: 740 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(url);
  if (shots) {
    await page.screenshot({ path: join(shots, `${basename(file, ".html")}-${scheme}-${width}.png`) });
  }
  await breaksAtOnce(page);
  await folds(page);
  await steps(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `expected ${width} pixels to be enough, it takes ${wide}`);
  assert.deepEqual(errors, [], "errors in the console");
  assert.deepEqual(asked.filter((other) => other.split("#")[0] !== url), [], "requests");
  await accessible(page);
  await page.close();
}

// The step that breaks a promise is in sight, and the promise's sentence beside it.
async function breaksAtOnce(page) {
  const found = await page.evaluate(() => {
    const visible = (element) => element.checkVisibility();
    const step = [...document.querySelectorAll(".steps .breaks")].find(visible);
    if (!step) return null;
    const inSight = (element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    };
    const scene = step.closest(".scene");
    const said = scene.querySelector(".panel .breach p");
    return { step: inSight(step), said: inSight(said), current: step.getAttribute("aria-current") };
  });
  if (found) assert.deepEqual(found, { step: true, said: true, current: "step" });
}

// What is folded away opens by its line, with its drawing.
async function folds(page) {
  const lines = await page.$$("details:not([open]) > summary");
  for (const line of lines.slice(0, 3)) {
    await line.evaluate((summary) => summary.click());
    const drawn = await line.evaluate((summary) => {
      const scene = summary.parentElement.querySelector(".scene");
      return !scene || (scene.checkVisibility() && scene.querySelector("svg line") !== null);
    });
    assert.ok(drawn, "expected a drawing where a line was opened");
  }
}

async function steps(page) {
  const count = await page.evaluate(() => {
    const scene = [...document.querySelectorAll(".scene")].find((of) => of.checkVisibility());
    scene?.querySelector(".steps a[aria-current]").focus();
    return scene?.querySelectorAll(".steps a").length;
  });
  if (!count) return;
  const at = () => page.evaluate(() => {
    const scene = document.activeElement.closest(".scene");
    const all = [...scene.querySelectorAll(".steps a")];
    const current = all.indexOf(scene.querySelector(".steps [aria-current]"));
    const rows = [...scene.querySelectorAll("tr[data-from]")];
    const stands = ({ dataset: { from, until } }) =>
      Number(from) <= current && (until === undefined || current < Number(until));
    return {
      current,
      focused: all.indexOf(document.activeElement),
      right: rows.every((row) => row.hidden !== stands(row)),
      said: scene.querySelector(".said").textContent.startsWith(`Step ${current + 1} of`),
    };
  });
  const expected = (current) => ({ current, focused: current, right: true, said: true });
  for (const [key, step] of [["Home", 0], ["j", 1], ["ArrowDown", 2], ["k", 1], ["ArrowUp", 0], ["End", count - 1]]) {
    await page.keyboard.press(key);
    assert.deepEqual(await at(), expected(Math.min(step, count - 1)), `after ${key}`);
  }
  await page.evaluate(() => {
    document.activeElement.closest(".scene").querySelectorAll(".steps a")[1].click();
  });
  assert.deepEqual(await at(), expected(1), "after a click");
}

async function accessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  const said = serious.map(({ id, nodes }) => `${id}: ${nodes[0].html} (${nodes[0].failureSummary})`);
  assert.deepEqual(said, [], "accessibility");
}
