// The tree of a conversation as a list of buttons: turns that follow each other stand below each other, siblings are
// indented.
import { el } from "/console/base.js";
import { children, path } from "/console/chats.js";

/** Shows the tree; choose(id) is called when a turn is chosen. */
export function showTree(element, chat, choose) {
  const shown = new Set(path(chat).map((turn) => turn.id));
  const entry = (turn) => el("button", {
    type: "button", class: "node", "aria-current": shown.has(turn.id) ? "true" : null, onclick: () => choose(turn.id),
  }, el("span", { class: "dot" }), el("span", { class: "label" }, turn.user.trim().slice(0, 80) || "(empty)"));
  const chain = (parent) => {
    const items = [];
    let next = children(chat, parent);
    while (next.length === 1) {
      items.push(el("li", {}, entry(next[0])));
      next = children(chat, next[0].id);
    }
    if (next.length > 1) {
      items.push(el("li", {}, el("ul", { class: "fork" }, ...next.map((turn) => {
        const rest = chain(turn.id);
        return el("li", {}, entry(turn), ...(rest.length ? [el("ul", {}, ...rest)] : []));
      }))));
    }
    return items;
  };
  const items = chain(null);
  element.replaceChildren(el("h2", {}, "Tree"), items.length ? el("ul", {}, ...items) : el("p", { class: "muted" }, "Nothing was said yet."));
}
