// The tree of a conversation as a list of buttons. Turns that follow each other are one below the other, versions are
// indented, and the middle of a long run is folded.
import { el } from "/console/base.js";
import { children, path } from "/console/chats.js";

/** A run of turns that is longer than this is folded. */
const LONGEST_RUN = 8;
/** How many turns of a folded run are shown at each end. */
const SHOWN = 3;

/** Shows the tree; choose(id) is called when a turn is chosen. */
export function showTree(element, chat, choose) {
  const shown = new Set(path(chat).map((turn) => turn.id));
  const entry = (turn) => el("button", {
    type: "button", class: "node", "aria-current": shown.has(turn.id) ? "true" : null, onclick: () => choose(turn.id),
  }, el("span", { class: "dot" }), el("span", { class: "label" }, turn.user.trim().slice(0, 80) || (turn.outputs ? "Results of calls" : "(empty)")));
  const folded = (some) => el("li", {}, el("details", {}, el("summary", {}, `… ${some.length} turns`), el("ul", {}, ...some)));
  const chain = (parent) => {
    const run = [];
    let next = children(chat, parent);
    while (next.length === 1) {
      run.push(el("li", {}, entry(next[0])));
      next = children(chat, next[0].id);
    }
    const items = run.length > LONGEST_RUN ? [...run.slice(0, SHOWN), folded(run.slice(SHOWN, -SHOWN)), ...run.slice(-SHOWN)] : run;
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
