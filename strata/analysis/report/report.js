"use strict";
// Everything from a run is written as text (textContent), never as markup.
(() => {
  const runs = JSON.parse(document.getElementById("data").textContent);

  const make = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const facts = (pairs) => {
    const list = make("dl", "facts");
    for (const [key, value] of pairs) list.append(make("dt", "", key), make("dd", "", value));
    return list;
  };

  const folded = (title, content) => {
    const details = make("details");
    details.append(make("summary", "", title), content);
    return details;
  };

  const table = (className, heads, rows) => {
    const scroll = make("div", "scroll");
    const element = make("table", className);
    const head = make("tr");
    for (const text of heads) {
      const cell = make("th", "", text);
      cell.scope = "col";
      head.append(cell);
    }
    element.createTHead().append(head);
    element.createTBody().append(...rows);
    scroll.append(element);
    return scroll;
  };

  const row = (cells) => {
    const line = make("tr");
    for (const cell of cells) {
      const field = cell instanceof HTMLTableCellElement ? cell : make("td");
      if (cell !== field) field.append(cell instanceof Node ? cell : String(cell));
      line.append(field);
    }
    return line;
  };

  const turn = (step) => {
    const item = make("li");
    for (const text of step.malformed) {
      item.append(make("div", "flag", "Unreadable reply, asked again:"), make("pre", "", text));
    }
    if (step.thought) item.append(make("div", "thought", step.thought));
    item.append(make("div", "action", "> " + step.action));
    if (step.note) item.append(make("div", "memory", step.note));
    item.append(make("div", "observation", step.observation));
    return item;
  };

  const trajectory = (texts, episode) => {
    const box = make("div", "trajectory");
    box.append(make("h4", "", "Task"), make("div", "observation", texts.instruction));
    if (episode.detail) box.append(make("div", "flag", episode.detail));
    box.append(make("h4", "", "Memory shown at the start"));
    box.append(texts.injected ? make("pre", "memory", texts.injected) : make("div", "small", "none"));
    box.append(make("h4", "", "Trajectory"), make("div", "observation", texts.start));
    const list = make("ol");
    list.append(...texts.turns.map(turn));
    box.append(list);
    if (texts.more) box.append(make("div", "small", texts.more + " more turns are not embedded."));
    for (const text of texts.unread) {
      box.append(make("div", "flag", "Unreadable reply at the end:"), make("pre", "", text));
    }
    return box;
  };

  const outcome = (episode) => {
    const kind = episode.success ? "good" : episode.scored ? "" : "bad";
    return make("span", kind, episode.outcome + (episode.late ? " (tried again at the end)" : ""));
  };

  const episodeRows = (run) => run.episodes.flatMap((episode, at) => {
    const texts = run.texts[at];
    const cells = [
      episode.index, make("td", "name", episode.task), episode.category, outcome(episode), episode.score === null ? "no score" : episode.score.toFixed(1),
      episode.steps, episode.malformed, episode.tokens.toLocaleString("en"), episode.lines, episode.stored,
    ];
    if (!texts) return [row(["", ...cells])];
    const button = make("button", "", "show");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    const field = make("td");
    field.colSpan = cells.length + 1;
    const wide = make("tr", "wide");
    wide.hidden = true;
    wide.append(field);
    button.addEventListener("click", () => {
      if (!field.firstChild) field.append(trajectory(texts, episode));
      wide.hidden = !wide.hidden;
      button.textContent = wide.hidden ? "show" : "hide";
      button.setAttribute("aria-expanded", String(!wide.hidden));
    });
    return [row([button, ...cells]), wide];
  });

  const fill = (place, run) => {
    place.append(facts(run.facts));
    place.append(folded("Settings", facts(run.settings)), folded("Versions and prompts", facts(run.versions)));
    place.append(folded("Calls by purpose", table("", ["purpose", "calls", "input tokens", "output tokens", "cost"], run.usage.map(row))));
    place.append(make("h4", "", "Episodes"));
    const heads = ["texts", "#", "task", "category", "outcome", "score", "steps", "malformed", "tokens", "lines shown", "items stored"];
    place.append(table("episodes", heads, episodeRows(run)));
  };

  for (const details of document.querySelectorAll("details.run")) {
    details.addEventListener("toggle", () => {
      const place = details.querySelector(".content");
      if (details.open && !place.firstChild) fill(place, runs[Number(details.dataset.run)]);
    });
  }
})();
