import "../../../app/testing/browser";
import { render } from "@testing-library/react";
import ReactMarkdown from "react-markdown";
import { beforeAll, beforeEach, expect, it, vi } from "vitest";
import { lateReader } from "./late-reader";
import { Markdown } from "./Markdown";

beforeAll(async () => {
  await lateReader.load();
});

vi.mock(import("react-markdown"), async (load) => {
  const real = await load();
  return { ...real, default: vi.fn(real.default) };
});

const reads = vi.mocked(ReactMarkdown);
beforeEach(() => {
  reads.mockClear();
});

it("parses only the last block as a text grows, and no block again when it ends", () => {
  const text = Array.from({ length: 20 }, (_, i) => `Paragraph ${i} with **bold** words.\n\n`).join("");
  const { container, rerender } = render(<Markdown text="" grows />);
  for (let n = 1; n <= text.length; n += 13) {
    const before = reads.mock.calls.length;
    rerender(<Markdown text={text.slice(0, n)} grows />);
    const read = reads.mock.calls.slice(before).map(([{ children }]) => String(children));
    // A block that has ended is parsed a last time.
    expect(read.length).toBeLessThanOrEqual(2);
    expect(read.every((piece) => piece.split("\n\n").length <= 3)).toBe(true);
  }
  rerender(<Markdown text={text} grows />);
  const drawn = [...container.querySelectorAll("p")];
  expect(drawn).toHaveLength(20);
  reads.mockClear();
  rerender(<Markdown text={text} />);
  expect(reads.mock.calls.length).toBeLessThanOrEqual(1);
  expect([...container.querySelectorAll("p")].slice(0, -1)).toEqual(drawn.slice(0, -1));
  expect(container.querySelector("p")).toBe(drawn[0]);
});

it("does not parse code, and keeps its elements", () => {
  const code = Array.from({ length: 120 }, (_, i) => `line ${i}\n`).join("");
  const { container, rerender } = render(<Markdown text={"```klingon\n"} grows />);
  rerender(<Markdown text={`\`\`\`klingon\n${code}`} grows />);
  const drawn = container.querySelector("code > span");
  expect(drawn?.textContent).toMatch(/^line 0\n(line \d+\n){48}line 49\n$/);
  rerender(<Markdown text={`\`\`\`klingon\n${code}\`\`\`\n`} />);
  expect(container.querySelector("code > span")).toBe(drawn);
  expect(container.querySelector("code")?.textContent).toBe(code.replace(/\n$/, ""));
  expect(reads).not.toHaveBeenCalled();
});
