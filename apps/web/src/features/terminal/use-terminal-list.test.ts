import { act, renderHook, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { OfflineError } from "../../api/contract";
import type { Event, Terminal } from "../../api/types";
import { FakeHost } from "../../app/testing/fake-scorel";
import { useTerminalList } from "./use-terminal-list";

const changed: Event = { type: "terminals_changed" };
const terminal = (id: string): Terminal => ({ id, cwd: "/", cols: 80, rows: 24, createdAt: 0, from: 0, end: 0 });

function world(first: string[], shown: string) {
  const host = new FakeHost("dev");
  const known = { ids: first };
  host.handlers.list_terminals = () => ({ terminals: known.ids.map(terminal) });
  const { result } = renderHook(() => useTerminalList(host, first.map(terminal), shown));
  const shows = (...ids: string[]) => waitFor(() => expect(result.current[0].map((each) => each.id)).toEqual(ids));
  const changes = (...ids: string[]) => {
    known.ids = ids;
    act(() => host.emit(changed));
  };
  return { host, known, shows, changes };
}

it("includes the terminals that another window opens, without those that it closes", async () => {
  const { shows, changes } = world(["a", "b"], "b");
  changes("a", "b", "c");
  await shows("a", "b", "c");
  changes("b", "c");
  await shows("b", "c");
  changes("c");
  await shows("b", "c"); // it is visible, and shows how it ended
});

it("includes terminals opened while the connection was lost", async () => {
  const { host, known, shows } = world(["a"], "a");
  act(() => host.status.set("connecting"));
  known.ids = ["a", "b"];
  act(() => host.status.set("open"));
  await shows("a", "b");
  host.handlers.list_terminals = () => {
    throw new OfflineError("lost");
  };
  act(() => host.emit(changed));
  await shows("a", "b");
});
