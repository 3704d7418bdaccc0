// Builds the pages of docs/ and what the search finds in them.
import { readdirSync, readFileSync } from "node:fs";
import { elsewhere, groups, slugOf } from "./contents.js";
import { markdown, sectionsOf } from "./markdown.js";

const docs = new URL("../../../docs/", import.meta.url);
const start = "quickstart";

const read = (name) => readFileSync(new URL(`${name}.md`, docs), "utf8");

function checkContents(names) {
  for (const name of readdirSync(docs).filter((each) => each.endsWith(".md"))) {
    const page = name.slice(0, -".md".length);
    if (names.includes(page) === elsewhere.includes(page)) {
      throw new Error(`docs/${name} must be either in groups or in elsewhere of contents.js`);
    }
  }
}

export default function (config) {
  const names = groups.flatMap(({ pages }) => pages.map(([name]) => name));
  checkContents(names);
  config.setLibrary("md", markdown);
  config.addGlobalData(
    "groups",
    groups.map(({ title, pages }) => ({ title, pages: pages.map(([name, short]) => ({ slug: slugOf(name), short })) })),
  );
  const found = [];
  for (const name of names) {
    const text = read(name);
    const sections = sectionsOf(text);
    const slug = slugOf(name);
    const chinese = slug.startsWith("zh/");
    found.push([slug, sections[0].heading, sections.map(({ anchor, heading, text }) => [anchor, heading, text])]);
    const page = {
      layout: "page.njk",
      title: sections[0].heading,
      lang: chinese ? "zh-CN" : "en",
      slug,
      contents: sections.filter(({ depth }) => depth === 2),
    };
    config.addTemplate(`${slug}.md`, text, { ...page, permalink: `${slug}.html` });
    if (name === start) {
      config.addTemplate("start.md", text, { ...page, permalink: "index.html" });
    }
  }
  config.addTemplate("found.11ty.js", () => `globalThis.scorelDocs = ${JSON.stringify(found)};\n`, {
    permalink: "found.js",
  });
  config.addPassthroughCopy({
    "src/style.css": "style.css",
    "src/search.js": "search.js",
    "node_modules/minisearch/dist/umd/index.js": "minisearch.js",
    "../../../docs/pictures": "pictures",
    "../../../docs/openapi.json": "openapi.json",
  });
  return { dir: { input: "src", output: "dist" }, markdownTemplateEngine: false };
}
