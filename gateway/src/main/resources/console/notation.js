// Formulas and colours in code. Both libraries are loaded when a reply first needs them. What they make is put together
// from elements, never from markup.
import { el } from "/console/base.js";

const LONGEST_CODE = 50_000;
const LONGEST_FORMULA = 5_000;
const libraries = new Map();

/** Calls `use` with a library: at once if it is loaded, otherwise when it is. */
function withLibrary(name, use) {
  const loaded = libraries.get(name);
  if (loaded && !(loaded instanceof Promise)) {
    use(loaded);
    return;
  }
  if (!loaded) {
    libraries.set(name, import(`/console/lib/${name}.js`).then(
      (module) => { libraries.set(name, module.default); return module.default; },
      () => { libraries.delete(name); return null; }));
  }
  libraries.get(name).then((library) => { if (library) use(library); });
}

/** Makes the element of a formula in TeX's notation. A formula that cannot be read stays the text that it is. */
export function formula(raw, tex, display) {
  const element = el("span", { class: display ? "formula display" : "formula" }, raw);
  if (tex.length > LONGEST_FORMULA) return element;
  withLibrary("katex", (katex) => {
    try {
      const made = el("span");
      katex.render(tex, made, { displayMode: display, output: "mathml", throwOnError: true, strict: "ignore", trust: false, maxExpand: 200 });
      element.replaceChildren(...made.childNodes);
    } catch { /* it is shown as text */ }
  });
  return element;
}

/** Makes the element of code. */
export function colouredCode(text, language) {
  const element = el("code", {}, text);
  if (language && text.length <= LONGEST_CODE) {
    withLibrary("highlightjs", (hljs) => {
      if (hljs.getLanguage(language)) {
        element.replaceChildren(...spans(hljs.highlight(text, { language, ignoreIllegals: true }).value));
      }
    });
  }
  return element;
}

const CHARACTERS = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

/** The elements of highlighted code, which has spans with classes, and text in which five characters are escaped. */
function spans(highlighted) {
  const root = el("code");
  let at = root;
  for (const part of highlighted.split(/(<span class="[^"]*">|<\/span>)/)) {
    if (part === "</span>") {
      at = at.parentNode;
    } else if (part.startsWith("<span ")) {
      const span = el("span", { class: part.slice(13, -2) });
      at.append(span);
      at = span;
    } else {
      at.append(part.replace(/&(?:amp|lt|gt|quot|#x27);/g, (escape) => CHARACTERS[escape]));
    }
  }
  return root.childNodes;
}
