// Shows Markdown by making elements from the parser's tokens. Nothing is ever parsed as HTML: markup in a reply is
// shown as the text that it is, so there is nothing to sanitise.
import { Marked } from "/console/lib/marked.js";
import { el } from "/console/base.js";
import { colouredCode, formula } from "/console/notation.js";

const DISPLAY = /^(?:\$\$([\s\S]{1,5000}?)\$\$|\\\[([\s\S]{1,5000}?)\\\])/;
// a dollar sign of a price has a blank after it, before its pair, or a digit after its pair
const INLINE = /^(?:\\\(([\s\S]{1,5000}?)\\\)|\$(?![\s$])((?:\\[\s\S]|[^\\$\n])+?)(?<!\s)\$(?!\d))/;

function found(match, display) {
  return match && { type: "formula", raw: match[0], text: (match[1] ?? match[2]).trim(), display };
}

const parser = new Marked({ gfm: true, breaks: true, extensions: [
  {
    name: "formulaBlock",
    level: "block",
    start: (text) => text.match(/(?<=^|\n) {0,3}(?:\$\$|\\\[)/)?.index,
    tokenizer(text) {
      const indent = text.match(/^ {0,3}/)[0].length;
      const token = found(DISPLAY.exec(text.slice(indent)), true);
      const rest = token && text.slice(indent + token.raw.length).match(/^[ \t]*(?:\n+|$)/);
      return rest ? { ...token, raw: text.slice(0, indent + token.raw.length + rest[0].length) } : undefined;
    },
  },
  {
    name: "formulaInline",
    level: "inline",
    start: (text) => text.match(/\$|\\[([]/)?.index,
    tokenizer: (text) => found(DISPLAY.exec(text), true) ?? found(INLINE.exec(text), false) ?? undefined,
  },
] });

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", ndash: "–", mdash: "—", hellip: "…", copy: "©", rarr: "→", larr: "←", times: "×", deg: "°" };

function decoded(text) {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name] ?? whole;
    const code = decimal ? parseInt(decimal, 10) : parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Links lead to web pages and mail addresses alone, never to scripts or data. */
function link(href, children) {
  let url;
  try {
    url = new URL(decoded(href));
  } catch {
    return el("span", {}, ...children);
  }
  if (!["http:", "https:", "mailto:"].includes(url.protocol)) return el("span", {}, ...children);
  return el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, ...children);
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying is not allowed here";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

/** A button that copies a text. */
export function copyButton(text, label) {
  return el("button", { type: "button", class: "quiet", "aria-label": label, onclick: (e) => copy(text(), e.currentTarget) }, "Copy");
}

function code(token) {
  const name = (token.lang ?? "").split(/\s/)[0].slice(0, 30);
  return el("figure", { class: "code" },
    el("figcaption", {}, el("span", {}, name || "text"), copyButton(() => token.text, "Copy code")),
    el("pre", { tabindex: "0" }, colouredCode(token.text, name.toLowerCase())));
}

function table(token) {
  const cells = (row, name) => el("tr", {}, ...row.map((cell) => {
    const element = el(name, name === "th" ? { scope: "col" } : {}, ...inline(cell.tokens));
    if (cell.align) element.classList.add(cell.align);
    return element;
  }));
  return el("div", { class: "table", tabindex: "0", role: "group", "aria-label": "Table" }, el("table", {},
    el("thead", {}, cells(token.header, "th")),
    el("tbody", {}, ...token.rows.map((row) => cells(row, "td")))));
}

function list(token) {
  const items = token.items.map((item) => {
    const children = blocks(item.tokens.filter((t) => t.type !== "checkbox"));
    return el("li", {}, ...(item.task ? [item.checked ? "☑ " : "☐ "] : []), ...children);
  });
  return token.ordered
    ? el("ol", { start: token.start === 1 ? null : token.start }, ...items)
    : el("ul", {}, ...items);
}

function inline(tokens = []) {
  return tokens.map((token) => {
    switch (token.type) {
      case "strong": case "em": case "del": return el(token.type, {}, ...inline(token.tokens));
      case "codespan": return el("code", {}, token.text);
      case "br": return el("br");
      case "link": return link(token.href, inline(token.tokens));
      // pictures would be loaded from elsewhere, which tells others that the reply was read
      case "image": return link(token.href, [token.text || token.href]);
      case "html": return token.text ?? token.raw;
      case "escape": return decoded(token.text);
      case "formula": return formula(token.raw, token.text, token.display);
      default: return token.tokens ? el("span", {}, ...inline(token.tokens)) : decoded(token.text ?? token.raw);
    }
  });
}

function block(token) {
  switch (token.type) {
    case "space": case "def": return null;
    // the page has its own headings above
    case "heading": return el(`h${Math.min(6, token.depth + 2)}`, {}, ...inline(token.tokens));
    case "paragraph": return el("p", {}, ...inline(token.tokens));
    case "code": return code(token);
    case "blockquote": return el("blockquote", {}, ...blocks(token.tokens));
    case "list": return list(token);
    case "table": return table(token);
    case "formula": return el("p", {}, formula(token.raw.trim(), token.text, true));
    case "hr": return el("hr");
    case "html": return el("p", { class: "raw" }, token.raw.trimEnd());
    case "text": return el("span", {}, ...(token.tokens ? inline(token.tokens) : [decoded(token.text)]));
    default: return el("p", {}, ...inline([token]));
  }
}

function blocks(tokens) {
  return tokens.map(block).filter((element) => element !== null);
}

/** Shows a text in an element. Unchanged blocks stay in the page, so that a selection in them stays too. */
export function showMarkdown(element, text) {
  const tokens = parser.lexer(text).filter((token) => token.type !== "space" && token.type !== "def");
  const shown = element.shownBlocks ?? [];
  let same = 0;
  while (same < tokens.length && same < shown.length && shown[same] === tokens[same].raw) same++;
  while (element.childNodes.length > same) element.lastChild.remove();
  element.append(...blocks(tokens.slice(same)));
  element.shownBlocks = tokens.map((token) => token.raw);
}
