// The search of the documentation. Its index is made in the browser, when the field is used for the first time. The
// script works without storage and without requests, because these pages run in an origin of their own.
(() => {
  const most = 12;
  const box = document.querySelector("search");
  const input = box.querySelector("input");
  const list = box.querySelector("ol");
  const status = box.querySelector("[role=status]");

  const load = (src) =>
    new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = src;
      script.onload = done;
      script.onerror = () => failed(new Error(`${src} cannot be loaded`));
      document.head.append(script);
    });

  /** Words, and single characters of Chinese, which has no spaces. */
  const tokenize = (text) => text.match(/\p{Script=Han}|[\p{L}\p{N}_]+/gu) ?? [];

  async function build() {
    await Promise.all([load("/docs/minisearch.js"), load("/docs/found.js")]);
    const index = new MiniSearch({
      fields: ["heading", "page", "text"],
      storeFields: ["slug", "anchor", "heading", "page", "text"],
      tokenize,
      searchOptions: {
        boost: { heading: 4, page: 2 },
        prefix: true,
        fuzzy: (word) => (word.length > 4 ? 0.2 : false),
        combineWith: "AND",
      },
    });
    let id = 0;
    for (const [slug, page, sections] of globalThis.scorelDocs) {
      index.addAll(sections.map(([anchor, heading, text]) => ({ id: id++, slug, page, anchor, heading, text })));
    }
    return index;
  }

  let index;

  /** Returns the text around the first word that was found. */
  function excerpt(text, words) {
    const at = Math.max(
      0,
      Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((i) => i >= 0), text.length),
    );
    const from = at === text.length ? 0 : Math.max(0, at - 40);
    return (from > 0 ? "…" : "") + text.slice(from, from + 140).replaceAll("\n", " ");
  }

  function row({ slug, anchor, heading, page, text, terms }) {
    const item = document.createElement("li");
    const link = item.appendChild(document.createElement("a"));
    link.href = `/docs/${slug}${anchor ? `#${anchor}` : ""}`;
    link.append(Object.assign(document.createElement("strong"), { textContent: heading }));
    if (heading !== page) {
      link.append(Object.assign(document.createElement("small"), { textContent: page }));
    }
    link.append(Object.assign(document.createElement("span"), { textContent: excerpt(text, terms) }));
    return item;
  }

  async function search() {
    const query = input.value.trim();
    if (!query) {
      close();
      return;
    }
    try {
      index ??= build();
      const found = (await index).search(query);
      if (input.value.trim() !== query) {
        return; // the person has typed on
      }
      list.replaceChildren(...found.slice(0, most).map(row));
      status.textContent = found.length === 1 ? "1 result" : `${found.length} results`;
      if (found.length === 0) {
        list.append(Object.assign(document.createElement("li"), { textContent: "No results", className: "none" }));
      }
    } catch {
      index = undefined; // the next attempt loads it again
      status.textContent = "The search could not be loaded. Check the connection and try again.";
      list.replaceChildren(
        Object.assign(document.createElement("li"), { textContent: status.textContent, className: "none" }),
      );
    }
    list.hidden = false;
  }

  function close() {
    list.hidden = true;
    list.replaceChildren();
    status.textContent = "";
  }

  function move(by) {
    const stops = [input, ...list.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    stops[(at + by + stops.length) % stops.length].focus();
  }

  input.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) {
      return;
    }
    if (event.key === "Escape") {
      close();
      input.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && event.target === input) {
      list.querySelector("a")?.click();
    }
  });
  list.addEventListener("click", () => setTimeout(close));
  document.addEventListener("click", (event) => {
    if (!box.contains(event.target)) {
      close();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !box.contains(event.target)) {
      event.preventDefault();
      input.focus();
    }
  });
  box.hidden = false;
})();
