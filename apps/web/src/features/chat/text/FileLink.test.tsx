import "../../../app/testing/browser";
import { fireEvent, render, screen } from "@testing-library/react";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { FilesContext } from "../context/files-context";
import { FoldedText } from "../tools/FoldedText";
import { ToolCard } from "../tools/ToolCard";
import { lateReader } from "./late-reader";
import { Markdown } from "./Markdown";

beforeAll(async () => {
  await lateReader.load();
});

function show(node: React.ReactNode) {
  const open = vi.fn();
  const { container } = render(<FilesContext value={{ folder: "/home/ada/site", open }}>{node}</FilesContext>);
  return { open, box: container };
}

describe("a file mentioned in the transcript", () => {
  it("is a button where it is code, and opens at its line", () => {
    const { open, box } = show(<Markdown text={"See `src/a.go:42`, not `fmt.Println` or `../x.go:1`."} />);
    const link = screen.getByRole("button");
    expect(link.textContent).toBe("src/a.go:42");
    expect(link.title).toBe("Open src/a.go at line 42");
    expect(box.querySelectorAll("code")).toHaveLength(3);
    fireEvent.click(link);
    expect(open).toHaveBeenCalledExactlyOnceWith({ path: "src/a.go", line: 42, end: 42 });
  });

  it("is a button where it is the target of a link, and never a link within a link", () => {
    const { open, box } = show(
      <Markdown text={"[`a.go`](src/a.go#L3) [b](</home/ada/site/b b.go>) [`c.go:1`](https://example.org/c.go)"} />,
    );
    expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual(["a.go"]);
    fireEvent.click(screen.getByRole("button"));
    expect(open).toHaveBeenCalledWith({ path: "src/a.go", line: 3, end: 3 });
    expect(box.querySelector("a button, button button, button a")).toBeNull();
    expect(screen.getByRole("link", { name: "c.go:1" }).getAttribute("href")).toBe("https://example.org/c.go");
  });

  it("is unchanged in blocks of code, and where no files can be shown", () => {
    const { box } = show(<Markdown text={"```go\na.go:1\n```"} />);
    expect(box.querySelector("pre")?.textContent).toBe("a.go:1");
    expect(screen.queryByTestId("file-link")).toBeNull();
    render(<Markdown text="`a.go:1`" />);
    expect(screen.queryByTestId("file-link")).toBeNull();
  });

  it("is a button in a streaming message, once its code is closed", () => {
    const { box } = show(<Markdown text="See `src/a.go:4" grows />);
    expect(box.querySelector("button")).toBeNull();
    show(<Markdown text="See `src/a.go:42`" grows />);
    expect(screen.getByTestId("file-link").textContent).toBe("src/a.go:42");
  });

  it("is a button in an output that has ended", () => {
    const { open } = show(<FoldedText text={"a_test.go:12: want <b>1</b>\n"} />);
    fireEvent.click(screen.getByRole("button", { name: "a_test.go:12" }));
    expect(open).toHaveBeenCalledWith({ path: "a_test.go", line: 12, end: 12 });
    show(<FoldedText text="b.go:1: x" tail />);
    expect(screen.getAllByTestId("file-link")).toHaveLength(1);
  });

  it("is a button on the card of a call that reads it", () => {
    const result = {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "read_file",
      content: [],
      isError: false,
    } as never;
    const args = { path: "/home/ada/site/src/a.go", offset: 30 };
    const facts = { result, decision: null, operations: [] } as never;
    const { open } = show(<ToolCard id="c1" name="read_file" args={args} facts={facts} />);
    fireEvent.click(screen.getByRole("button", { expanded: false }));
    fireEvent.click(screen.getByTestId("file-link"));
    expect(open).toHaveBeenCalledWith({ path: "src/a.go", line: 30, end: 30 });
  });
});
