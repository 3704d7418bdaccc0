import "../../../app/testing/browser";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { MessageEntry, SessionEntry } from "../../../api/types";
import { assistant, call, result, user } from "../../../app/testing/builders";
import { Rows } from "./Rows";
import { buildRows } from "./rows";

const reads = (...ids: string[]): SessionEntry[] =>
  ids.flatMap((id) => [
    assistant([call(id, "read_file", { path: `${id}.go` })], { stopReason: "toolUse" }),
    result(id, "read_file", `text of ${id}`),
  ]);

const page = (entries: SessionEntry[], sought?: string) => {
  const rows = buildRows(entries);
  return <Rows rows={rows} first={0} last={rows.length} sought={sought} me={undefined} />;
};
const cards = () => screen.queryAllByTestId("tool-card").map((card) => card.textContent);
const line = () => screen.getByTestId("reads");

it("folds consecutive reads into one line, and opens it", () => {
  const entries = [
    assistant([{ type: "text", text: "I look." }, call("a", "read_file", { path: "a.go" })], { stopReason: "toolUse" }),
    result("a", "read_file", "text"),
    ...reads("b", "c"),
    assistant([call("d", "bash", { command: "make" })], { stopReason: "toolUse" }),
    result("d", "bash", "ok"),
    assistant("Done."),
  ];
  render(page(entries));
  expect(line().textContent).toBe("Read 3 filesa.go, b.go, c.go");
  expect(cards()).toHaveLength(1);
  fireEvent.click(line());
  expect(line().getAttribute("aria-expanded")).toBe("true");
  expect(cards()).toHaveLength(4);
  fireEvent.click(line());
  expect(cards()).toHaveLength(1);
});

it("leaves a single read alone, and shows that others failed", () => {
  const failed = [assistant([call("x", "read_file", { path: "x.go" })], { stopReason: "toolUse" })];
  render(page([...reads("a"), ...failed, result("x", "read_file", "no such file", true), ...reads("b")]));
  expect(screen.queryByTestId("reads")).toBeNull();
  expect(cards()).toHaveLength(3);
});

it("keeps an opened line open while more reads are added", () => {
  const before = reads("a");
  const { rerender } = render(page(before));
  fireEvent.click(screen.getByRole("button", { name: /a.go/ }));
  rerender(page([...before, ...reads("b")]));
  expect(line().textContent).toContain("Read 2 files");
  expect(screen.getByText("text of a")).toBeTruthy();
});

it("opens for a row that a search found", () => {
  const entries = reads("a", "b", "c");
  render(page(entries, entries[2]?.id));
  expect(cards()).toHaveLength(3);
  fireEvent.click(line());
  expect(cards()).toHaveLength(0);
});

it("shows the time of the entry for a message of another program that has none", () => {
  const message = { role: "user", content: "hello" } as MessageEntry["message"];
  render(page([user("", { timestamp: new Date(2026, 0, 2, 3, 4).toISOString(), message })]));
  expect(screen.getByTestId("message-user").textContent).toContain("3:04");
});
