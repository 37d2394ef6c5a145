// What all pages share: the theme, the API key, and calls of the gateway.

const THEMES = ["system", "light", "dark"];
const THEME_ICONS = { system: "◐", light: "☀", dark: "☾" };

function showTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.textContent = THEME_ICONS[theme];
  button.title = `Theme: ${theme}`;
  button.setAttribute("aria-label", button.title);
}

function startTheme() {
  let theme = localStorage.getItem("radixflow.theme") ?? "system";
  if (!THEMES.includes(theme)) theme = "system";
  showTheme(theme);
  document.getElementById("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    localStorage.setItem("radixflow.theme", theme);
    showTheme(theme);
  });
}

/** Asks for an API key; resolves to whether one was given. The key is kept in this tab alone. */
export function askForKey() {
  const dialog = document.getElementById("key-dialog");
  const input = document.getElementById("key-value");
  input.value = sessionStorage.getItem("radixflow.key") ?? "";
  dialog.returnValue = "";
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const used = dialog.returnValue === "use";
      const key = input.value.trim();
      input.value = "";
      if (used && key) sessionStorage.setItem("radixflow.key", key);
      else if (used) sessionStorage.removeItem("radixflow.key");
      if (used) document.dispatchEvent(new Event("radixflow-key"));
      resolve(used);
    }, { once: true });
  });
}

/** An answer of the gateway that is an error, or no answer at all (status 0). */
export class ApiError extends Error {
  constructor(status, message, retryAfter, code) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.code = code;
  }
}

/** Calls the gateway with the key; throws an ApiError whose message can be shown. */
export async function api(path, options = {}) {
  const headers = new Headers(options.headers);
  const key = sessionStorage.getItem("radixflow.key");
  if (key) headers.set("Authorization", `Bearer ${key}`);
  let body = options.body;
  if (body !== undefined && typeof body !== "string") {
    body = JSON.stringify(body);
    headers.set("Content-Type", "application/json");
  }
  let response;
  try {
    response = await fetch(path, { ...options, body, headers });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new ApiError(0, "The gateway cannot be reached.");
  }
  if (response.ok) return response;
  let error = { message: `The gateway answered with status ${response.status}.` };
  try {
    error = (await response.json()).error;
  } catch { /* an answer of something between */ }
  throw new ApiError(response.status, error.message, Number(response.headers.get("Retry-After")) || 0, error.code);
}

/** Calls the gateway and reads its JSON. */
export async function apiJson(path, options) {
  return (await api(path, options)).json();
}

/** Makes an element: el("a", {href: "/", class: "x", onclick: f}, "text", child). */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

async function showModel() {
  try {
    const models = await apiJson("/v1/models");
    document.getElementById("served").textContent = models.data.map((m) => m.id).join(", ");
  } catch (e) {
    if (e.status === 401) await askForKey();
  }
}

startTheme();
document.addEventListener("click", (event) => event.target.closest?.("[data-close]")?.closest("dialog").close());
document.getElementById("key").addEventListener("click", askForKey);
document.addEventListener("radixflow-key", showModel);
showModel();
