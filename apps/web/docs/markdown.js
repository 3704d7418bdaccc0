// Markdown of docs/ as it is on the site: headings with the anchors that GitHub gives them, links that lead to pages of
// the site or to the repository, and tables that scroll.
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import markdownIt from "markdown-it";
import { elsewhere, repository, slugOf } from "./contents.js";

/** The anchor that GitHub gives a heading. */
export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

export const markdown = markdownIt({ html: true, linkify: false });

const textOf = (token) =>
  (token.children ?? []).map((child) => (child.type === "softbreak" ? " " : child.content)).join("");

markdown.core.ruler.push("anchors", ({ tokens }) => {
  const used = new Map();
  for (const [at, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const anchor = anchorOf(textOf(tokens[at + 1]));
      const before = used.get(anchor) ?? 0;
      used.set(anchor, before + 1);
      token.attrSet("id", before === 0 ? anchor : `${anchor}-${before}`);
    }
  }
});

/** The title of a page of docs/. */
const titleOf = (name) => /^# (.*)$/m.exec(readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8"))[1];

// In the repository a link is often named after its file. On the site, it has the title of the page.
markdown.core.ruler.push("titles", ({ tokens }) => {
  for (const { children } of tokens) {
    for (const [at, child] of (children ?? []).entries()) {
      const file = child.type === "link_open" && /^([\w-]+\.md)(#|$)/.exec(child.attrGet("href"))?.[1];
      if (file && children[at + 1].content === file) {
        children[at + 1].content = titleOf(file);
      }
    }
  }
});

/** Returns where a link of a page in docs/ leads on the site. */
export function target(href) {
  if (/^[a-z]+:/.test(href) || href.startsWith("#")) {
    return href;
  }
  const [path, fragment] = href.split("#");
  const full = posix.normalize(`docs/${path}`);
  const page = /^docs\/([^/]+)\.md$/.exec(full)?.[1];
  const address =
    page && !elsewhere.includes(page)
      ? `/docs/${slugOf(page)}`
      : full.startsWith("docs/pictures/") || full === "docs/openapi.json"
        ? `/${full}`
        : repository + full;
  return fragment ? `${address}#${fragment}` : address;
}

const link = markdown.renderer.rules.link_open;
markdown.renderer.rules.link_open = (tokens, at, options, env, self) => {
  tokens[at].attrSet("href", target(tokens[at].attrGet("href")));
  return link ? link(tokens, at, options, env, self) : self.renderToken(tokens, at, options);
};

const image = markdown.renderer.rules.image;
markdown.renderer.rules.image = (tokens, at, options, env, self) => {
  tokens[at].attrSet("src", target(tokens[at].attrGet("src")));
  return image(tokens, at, options, env, self);
};

for (const rule of ["html_inline", "html_block"]) {
  const plain = markdown.renderer.rules[rule];
  markdown.renderer.rules[rule] = (...given) =>
    plain(...given).replace(/\b(src|href)="([^"]*)"/g, (_, name, to) => `${name}="${target(to)}"`);
}

markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
markdown.renderer.rules.table_close = () => "</table></div>\n";

/** Returns the title of a page, and its sections: anchor, heading, depth and text. */
export function sectionsOf(text) {
  const sections = [];
  const tokens = markdown.parse(text, {});
  for (const [at, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const anchor = sections.length === 0 ? "" : token.attrGet("id");
      sections.push({ anchor, heading: textOf(tokens[at + 1]), depth: Number(token.tag.slice(1)), text: "" });
    } else if (sections.length > 0 && tokens[at - 1]?.type !== "heading_open") {
      const more = token.type === "inline" ? textOf(token) : token.type === "fence" ? token.content : "";
      if (more) {
        sections.at(-1).text += `${more}\n`;
      }
    }
  }
  return sections;
}
