import "../../../app/testing/browser";
import { render } from "@testing-library/react";
import { beforeAll, expect, it } from "vitest";
import { lateReader } from "./late-reader";
import { Markdown } from "./Markdown";
import { isParagraph } from "./plain-paragraph";
import { readMarkdown } from "./reader";

const read = (text: string) => render(readMarkdown(text, false)).container.innerHTML;
const drawn = (text: string) => render(<Markdown text={text} />).container.firstElementChild?.innerHTML;

it.each([
  "One line.",
  "Two lines,\nthe second shorter\n\n",
  "它读作一段。\n第二行",
  "“Quoted”, 'also' (in brackets) - with a dash; a # and 1. inside: ok!",
  "2026 is a year\nand 3 times\n4) ",
])("renders %j as the parser does, without it", (text) => {
  expect(drawn(text)).toBe(read(text).trimEnd());
});

it.each([
  "# Title",
  "- item",
  "+ item",
  "1. item",
  "1) item",
  "> quote",
  "    code",
  "text\n---",
  "text\n===",
  "two  \nlines",
  "a\n\nb",
  "see https://example.org",
  "see www.example.org",
  "a@example.org",
  "*a*",
  "a_b_",
  "`a`",
  "~~a~~",
  "[a](b)",
  "a &amp; b",
  "a \\* b",
  "<b>",
  "a | b\n- | -",
  "a\r\nb",
])("leaves %j to the parser", (text) => {
  expect(isParagraph(text)).toBe(false);
});

it("never treats text as a paragraph that the parser treats otherwise", () => {
  const parts = "a b1. )(#-+=>~*_`|:/w.\n\t \\!&<[]@\"'é语0".split("");
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  let paragraphs = 0;
  for (let i = 0; i < 4000; i++) {
    const text = Array.from({ length: 1 + next(9) }, () => parts[next(next(2) ? parts.length : 9)]).join("");
    if (isParagraph(text)) {
      paragraphs++;
      expect(drawn(text), JSON.stringify(text)).toBe(read(text).trimEnd());
    }
  }
  expect(paragraphs).toBeGreaterThan(200);
});

beforeAll(async () => {
  await lateReader.load();
});
