import "../../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError, OfflineError } from "../../../api/contract";
import { ApiKind, type Requests } from "../../../api/types";
import { setInSight } from "../../../app/testing/browser";
import { FakeHost } from "../../../app/testing/fake-scorel";
import { ToastProvider } from "../../../components/Toast";
import { colorRuns, tokenize } from "../../code/highlight";
import { createHighlighting, HighlightingContext } from "../../code/use-highlighted";
import ChangesSheet from "../ChangesSheet";

const text = (count: number, from = 1) => Array.from({ length: count }, (_, i) => `line ${from + i}\n`).join("");

function show(
  read: (fields: Requests["read_file"]["request"]) => Partial<Requests["read_file"]["response"]>,
  file = { path: "src/a.go", line: 0, end: 0 },
  found: string[] = [],
) {
  const host = new FakeHost("dev_one");
  host.handlers.read_file = (fields) => ({ size: 2048, text: "", ...read(fields) });
  host.handlers.find_files = () => ({ files: found.map((path) => ({ path, kind: "file" as const })) });
  const onPrompt = vi.fn();
  const client = new QueryClient();
  render(
    <QueryClientProvider client={client}>
      <HighlightingContext value={createHighlighting(() => ({ tokenize, colorRuns }))}>
        <ToastProvider>
          <ChangesSheet
            host={host}
            sessionId="s1"
            step=""
            mayWrite
            onPrompt={onPrompt}
            file={file}
            onClose={() => {}}
          />
        </ToastProvider>
      </HighlightingContext>
    </QueryClientProvider>,
  );
  return { host, onPrompt, client };
}

const table = () => screen.findByRole("table", { name: "src/a.go" });
const reads = (host: FakeHost) => host.requests.map(({ fields }) => (fields as { from?: number }).from ?? 0);

describe("a file", () => {
  afterEach(() => vi.restoreAllMocks());

  it("has numbered and highlighted lines, and requests nothing else", async () => {
    const { host } = show(() => ({ text: "package a\n\n// A is\u202E one.\nconst A = 1\n" }));
    const rows = within(await table())
      .getAllByRole("row")
      .slice(1);
    expect(rows.map((row) => row.textContent)).toEqual(["1package a", "2", "3// A is<U+202E> one.", "4const A = 1"]);
    await waitFor(() => expect(rows[2]?.querySelector(".tok-comment")).toBeTruthy());
    expect(host.requests.map(({ name }) => name)).toEqual(["read_file"]);
  });

  it("opens at a line, which is scrolled into view and marked", async () => {
    const into = vi.spyOn(Element.prototype, "scrollIntoView");
    show(() => ({ text: text(500) }), { path: "src/a.go", line: 300, end: 301 });
    const marked = [...(await table()).querySelectorAll("[aria-current]")];
    expect(marked.map((row) => row.textContent)).toEqual(["300line 300", "301line 301"]);
    expect(into.mock.contexts[0]).toBe(marked[0]);
    expect(document.activeElement).toBe(marked[0]);
    // Rows far out of view are not rendered.
    expect(screen.queryByText("line 100")).toBeNull();
    expect(screen.getAllByTestId("undrawn")).toHaveLength(30);
  });

  it("renders lines as they come into view", async () => {
    setInSight("[data-testid=undrawn]");
    show(() => ({ text: text(200) }));
    await table();
    await waitFor(() => expect(screen.queryByTestId("undrawn")).toBeNull());
    expect((await table()).textContent).toContain("line 200");
  });

  it("is read in parts, as far as the line needs and then on request", async () => {
    const parts: Record<number, object> = {
      0: { text: `${text(50)}lin`, next: 10 },
      10: { text: `e 51\n${text(49, 52)}`, next: 20 },
      20: { text: text(10, 101) },
    };
    setInSight("[data-testid=undrawn]");
    const { host } = show(({ from = 0 }) => parts[from] ?? {}, { path: "src/a.go", line: 51, end: 51 });
    expect((await table()).querySelector("[aria-current]")?.textContent).toBe("51line 51");
    expect(reads(host)).toEqual([0, 10]);
    fireEvent.click(screen.getByRole("button", { name: "Load more" }));
    await waitFor(() => expect(screen.queryByRole("button", { name: "Load more" })).toBeNull());
    await waitFor(() => expect(screen.queryByTestId("undrawn")).toBeNull());
    expect((await table()).textContent).toContain("line 110");
  });

  it("reports that it has no such line", async () => {
    show(() => ({ text: text(2) }), { path: "src/a.go", line: 9, end: 9 });
    expect(await screen.findByText("Line 9 does not exist: the file has 2 lines.")).toBeTruthy();
  });

  it("reports that it does not exist, with a link to the folder", async () => {
    const { host } = show(() => {
      throw new ApiError(ApiKind.not_found, "src/a.go does not exist");
    });
    expect((await screen.findByRole("alert")).textContent).toContain("src/a.go does not exist");
    host.handlers.list_files = () => ({ entries: [{ name: "b.go", kind: "file" }] });
    fireEvent.click(screen.getByRole("button", { name: "src" }));
    expect((await screen.findByTestId("file-entry")).textContent).toBe("b.go");
  });

  it("is found in another folder when a text named it without one", async () => {
    const { host } = show(
      ({ path }) => {
        if (path === "client.go") {
          throw new ApiError(ApiKind.not_found, "client.go does not exist");
        }
        return { text: text(5) };
      },
      { path: "client.go", line: 3, end: 3 },
      ["relay/client.go", "relay/client.go.txt", "relay/my-client.go"],
    );
    const found = await screen.findByRole("table", { name: "relay/client.go" });
    expect(found.querySelector("[aria-current]")?.textContent).toBe("3line 3");
    expect(host.requests.map(({ name }) => name)).toEqual(["read_file", "find_files", "read_file"]);
    expect(screen.getByRole("navigation", { name: "Files" }).textContent).toBe("Project folder / relay / client.go");
  });

  it("is chosen if several files match", async () => {
    show(
      ({ path }) => {
        if (path === "pkg/client.go") {
          throw new ApiError(ApiKind.not_found, "pkg/client.go does not exist");
        }
        return { text: text(5) };
      },
      { path: "pkg/client.go", line: 2, end: 2 },
      ["a/pkg/client.go", "b/pkg/client.go"],
    );
    const matches = await screen.findAllByTestId("file-match");
    expect(matches.map((match) => match.textContent)).toEqual(["a/pkg/client.go", "b/pkg/client.go"]);
    expect(screen.getByText("Several files match pkg/client.go. Choose one:")).toBeTruthy();
    fireEvent.click(matches[1] as Element);
    const found = await screen.findByRole("table", { name: "b/pkg/client.go" });
    expect(found.querySelector("[aria-current]")?.textContent).toBe("2line 2");
  });

  it.each([
    ["logo.png", "Image, 2 KiB. It is not shown here."],
    ["tool", "Binary file, 2 KiB. It is not shown here."],
  ])("reports that %s cannot be shown", async (path, said) => {
    show(() => ({ binary: true }), { path, line: 0, end: 0 });
    expect(await screen.findByText(said)).toBeTruthy();
  });

  it("can be commented on by keyboard, and the comment is added to the prompt", async () => {
    const { onPrompt } = show(() => ({ text: text(3) }));
    const lines = await table();
    expect(lines.tabIndex).toBe(0);
    fireEvent.keyDown(lines, { key: "ArrowDown" });
    fireEvent.keyDown(document.activeElement as Element, { key: "ArrowDown" });
    const line = document.activeElement as Element;
    fireEvent.keyDown(line, { key: "Enter" });
    expect(document.activeElement).toBe(screen.getByTestId("line-comment"));
    fireEvent.change(screen.getByTestId("line-comment"), { target: { value: "Why?" } });
    fireEvent.click(screen.getByTestId("add-comment"));
    expect(onPrompt).toHaveBeenCalledWith("`src/a.go:2`\n```\nline 2\n```\nWhy?");
    expect(screen.queryByTestId("line-comment")).toBeNull();
    await waitFor(() => expect(document.activeElement).toBe(line));
  });

  it("keeps a comment that was begun, on Escape and when the file cannot be read again", async () => {
    let offline = false;
    const { client } = show(() => {
      if (offline) {
        throw new OfflineError("offline");
      }
      return { text: text(3) };
    });
    const lines = await table();
    fireEvent.keyDown(lines, { key: "ArrowDown" });
    fireEvent.keyDown(document.activeElement as Element, { key: "Enter" });
    const field = () => screen.getByTestId("line-comment") as HTMLTextAreaElement;
    fireEvent.change(field(), { target: { value: "Why?" } });
    expect(fireEvent.keyDown(field(), { key: "Escape" })).toBe(false);
    expect(document.activeElement?.textContent).toBe("Cancel");
    offline = true;
    await client.invalidateQueries();
    expect(field().value).toBe("Why?");
    fireEvent.change(field(), { target: { value: "" } });
    fireEvent.keyDown(field(), { key: "Escape" });
    expect(screen.queryByTestId("line-comment")).toBeNull();
  });
});
