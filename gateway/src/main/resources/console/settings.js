// The dialog of a conversation's settings, and system prompts that are kept under a name.
import { el } from "/console/base.js";

const PRESETS = "radixflow.presets";
const NUMBERS = ["temperature", "topP", "minP", "seed", "maxTokens"];
const at = (id) => document.getElementById(id);
let save = null;

function presets() {
  try {
    return JSON.parse(localStorage.getItem(PRESETS)) ?? {};
  } catch {
    return {};
  }
}

function showPresets() {
  const names = Object.keys(presets()).sort();
  at("preset").replaceChildren(el("option", { value: "" }, names.length ? "Choose a kept prompt" : "None is kept"), ...names.map((name) => el("option", { value: name }, name)));
  at("preset").disabled = names.length === 0;
  at("forget-preset").disabled = true;
}

/** Keeps the system prompt under its first words. */
function keepPreset() {
  const text = at("system").value.trim();
  if (!text) return;
  localStorage.setItem(PRESETS, JSON.stringify({ ...presets(), [text.replace(/\s+/g, " ").slice(0, 50)]: text }));
  showPresets();
}

function forgetPreset() {
  const kept = presets();
  delete kept[at("preset").value];
  localStorage.setItem(PRESETS, JSON.stringify(kept));
  showPresets();
}

function number(id) {
  const value = at(id).value.trim();
  return value === "" ? null : Number(value);
}

/** Reads a field of JSON; null if it is empty, undefined if it cannot be read, which the field then says. */
function json(id, fits, wanted) {
  const field = at(id);
  field.setCustomValidity("");
  if (!field.value.trim()) return null;
  try {
    const value = JSON.parse(field.value);
    if (fits(value)) return value;
    field.setCustomValidity(`This must be ${wanted}.`);
  } catch (error) {
    field.setCustomValidity(`This is not JSON: ${error.message}`);
  }
  field.closest("details").open = true;
  field.reportValidity();
  return undefined;
}

function submit(event) {
  if (event.submitter?.value !== "save") return;
  const schema = json("schema", (value) => typeof value === "object" && !Array.isArray(value), "a JSON schema, which is an object");
  const tools = json("tools", Array.isArray, "a list of tools");
  if (schema === undefined || tools === undefined) {
    event.preventDefault();
    return;
  }
  const stop = at("stop-texts").value.split("\n").filter((line) => line !== "");
  save({
    system: at("system").value.trim(), effort: at("effort").value || null, stop: stop.length ? stop : null, schema, tools,
    ...Object.fromEntries(NUMBERS.map((name) => [name, number(name)])),
  });
}

/** Shows settings; `saved` is called with new ones if the user saves them. */
export function openSettings(settings, saved) {
  save = saved;
  at("system").value = settings.system ?? "";
  at("effort").value = settings.effort ?? "";
  at("stop-texts").value = (settings.stop ?? []).join("\n");
  for (const name of NUMBERS) at(name).value = settings[name] ?? "";
  for (const name of ["schema", "tools"]) {
    at(name).value = settings[name] ? JSON.stringify(settings[name], null, 2) : "";
    at(name).setCustomValidity("");
  }
  showPresets();
  at("settings").showModal();
}

at("settings-form").addEventListener("submit", submit);
for (const name of ["schema", "tools"]) at(name).addEventListener("input", () => at(name).setCustomValidity(""));
at("keep-preset").addEventListener("click", keepPreset);
at("forget-preset").addEventListener("click", forgetPreset);
at("preset").addEventListener("change", () => {
  const text = presets()[at("preset").value];
  if (text) at("system").value = text;
  at("forget-preset").disabled = !text;
});
