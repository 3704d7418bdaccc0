import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { setInSight, setMedia } from "../../app/testing/browser";
import { colorRuns, tokenize } from "../code/highlight";
import { createHighlighting, HighlightingContext } from "../code/use-highlighted";
import { Diff, type DiffProps } from "./Diff";

const change = "--- a/x.go\n+++ b/x.go\n@@ -8,2 +8,2 @@\n // same\n-const max = 4096\n+const max = 1024\n";
const wide = "(min-width: 1200px)";

function show(of: DiffProps["of"], more: Partial<DiffProps> = {}) {
  render(
    <HighlightingContext value={createHighlighting(() => ({ tokenize, colorRuns }))}>
      <Diff of={of} {...more} />
    </HighlightingContext>,
  );
}

const table = (path: string) => screen.getByRole("table", { name: `Changes in ${path}` });
const rows = (path: string) =>
  [...table(path).querySelectorAll("tbody tr")].map((row) =>
    [...row.querySelectorAll("td")]
      .map((cell) => cell.querySelector("[aria-label]")?.getAttribute("aria-label") ?? cell.textContent)
      .join("|"),
  );

describe("Diff", () => {
  it("is a table with the kind of each line", () => {
    show({ diff: change });
    expect(
      within(table("x.go"))
        .getAllByRole("columnheader")
        .map((cell) => cell.textContent),
    ).toEqual([...["Old line", "New line", "Change", "Text"]]);
    expect(rows("x.go")).toEqual([
      "7 lines not in this diff",
      "8|8||// same",
      "9||removed|const max = 4096",
      "|9|added|const max = 1024",
    ]);
    expect(screen.getByLabelText("1 added, 1 removed").textContent).toBe("+1 −1");
    expect([...table("x.go").querySelectorAll("del, ins")].map((word) => word.textContent)).toEqual(["4096", "1024"]);
  });

  it("highlights the code once the grammar is loaded", async () => {
    show({ diff: change });
    await waitFor(() => expect(table("x.go").querySelector(".tok-comment")?.textContent).toBe("// same"));
    await waitFor(() => expect(table("x.go").querySelector("ins.tok-constant")?.textContent).toBe("1024"));
  });

  it("puts the versions side by side where there is room, unless the reader stacks them", () => {
    setMedia(wide, true);
    show({ diff: change });
    expect(rows("x.go").at(-1)).toBe("9|removed|const max = 4096|9|added|const max = 1024");
    fireEvent.click(screen.getByRole("button", { name: "Side by side", pressed: true }));
    expect(rows("x.go")).toHaveLength(4);
    expect(screen.getByRole("button", { name: "Side by side", pressed: false })).toBeTruthy();
  });

  it("leaves versions stacked if one of them is empty", () => {
    setMedia(wide, true);
    show({ path: "new.txt", before: null, after: "a\nb\n" });
    expect(rows("new.txt")).toEqual(["|1|added|a", "|2|added|b"]);
    expect(screen.queryByRole("button", { name: "Side by side" })).toBeNull();
  });

  it("folds files and unchanged lines, by keyboard too", () => {
    const text = Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join("");
    show({ path: "a.txt", before: text, after: text.replace("line 20\n", "other\n") });
    const fold = screen.getByRole("button", { name: "Show 17 unchanged lines" });
    fireEvent.click(fold);
    expect(table("a.txt").textContent).toContain("line 0");
    const heading = screen.getByRole("button", { name: /a.txt/, expanded: true });
    fireEvent.click(heading);
    expect(screen.queryByRole("table")).toBeNull();
  });

  it("renders only the near part of a long diff", async () => {
    show({ diff: `--- a/x\n+++ b/x\n@@ -0,0 +1,5000 @@\n${"+line\n".repeat(5000)}` });
    const drawn = () => table("x").querySelectorAll(".diff-row").length;
    const parts = () => table("x").querySelectorAll("tbody").length;
    expect(drawn()).toBe(24);
    fireEvent.click(screen.getByRole("button", { name: "Show 4,976 more lines" }));
    expect(screen.getByRole("button", { name: "Show 2,976 more lines" })).toBeTruthy();
    expect(drawn()).toBe(32);
    expect(parts()).toBeLessThan(30);
    setInSight("[data-testid=undrawn]");
    fireEvent.click(screen.getByRole("button", { name: "Show 2,976 more lines" }));
    await vi.waitFor(() => expect(drawn()).toBeGreaterThan(200), { timeout: 60_000 });
  });

  it("renders the part of a long diff in which the browser finds a text", async () => {
    const lines = Array.from({ length: 900 }, (_, i) => `+line ${i + 1}.\n`);
    show({ diff: `--- a/x\n+++ b/x\n@@ -0,0 +1,900 @@\n${lines.join("")}` });
    fireEvent.click(screen.getByRole("button", { name: "Show 876 more lines" }));
    const place = () => screen.getAllByTestId("undrawn").find((each) => each.textContent?.includes("line 700."));
    // First the group of blocks, then the block within it: the browser searches again in what it was given.
    for (const rows of [128, 16]) {
      expect(place()?.textContent?.split("\n")).toHaveLength(rows);
      expect(place()?.getAttribute("hidden")).toBe("until-found");
      fireEvent(place() as Element, new Event("beforematch"));
    }
    expect(place()).toBeUndefined();
    expect(screen.getByText("line 700.").closest(".diff-row")).toBeTruthy();
  });

  it("shows a huge line in parts, and names invisible characters", () => {
    const line = "x".repeat(1_000_000);
    show({ path: "a\u202Eb.txt", before: null, after: `${line}\na\u202Eb\u001B[31m\n` });
    expect(table("a<U+202E>b.txt").textContent?.length).toBeLessThan(3000);
    expect(table("a<U+202E>b.txt").textContent).toContain("a<U+202E>b<U+001B>[31m");
    fireEvent.click(screen.getByRole("button", { name: "Show 998,000 more characters" }));
    expect(screen.getByRole("button", { name: "Show 978,000 more characters" })).toBeTruthy();
  });

  it("ignores carriage returns if every line has one", () => {
    show({ diff: "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\r\n-a\r\n+b\r\n" });
    expect(table("x").textContent).not.toContain("<U+000D>");
    show({ diff: "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\r\n+a\n" });
    expect(table("y").textContent).toContain("a<U+000D>");
  });

  it("makes lines selectable, and shows content below one", () => {
    const onLine = vi.fn();
    const place = { path: "x.go", side: "new" as const, line: 9, text: "const max = 1024" };
    show({ diff: change }, { onLine, below: { place, node: <p>A comment</p> } });
    const chosen = table("x.go").querySelectorAll("[data-choice]");
    fireEvent.keyDown(table("x.go"), { key: "ArrowDown" });
    expect(document.activeElement).toBe(chosen[0]);
    fireEvent.keyDown(chosen[2] as Element, { key: "Enter" });
    fireEvent.click(chosen[1] as Element);
    expect(onLine.mock.calls).toEqual([[place], [{ path: "x.go", side: "old", line: 9, text: "const max = 4096" }]]);
    expect(chosen[2]?.nextElementSibling?.textContent).toBe("A comment");
  });

  it("lists many files, the first of them open", () => {
    const files = Array.from({ length: 60 }, (_, i) => change.replaceAll("x.go", `f${i}.go`));
    show({ diff: files.join("") });
    expect(screen.getAllByTestId("diff-file")).toHaveLength(50);
    expect(screen.getAllByRole("table")).toHaveLength(5);
    fireEvent.click(screen.getByRole("button", { name: "Show 10 more files" }));
    expect(screen.getAllByTestId("diff-file")).toHaveLength(60);
  });
});
