// @vitest-environment node
import { expect, test } from "vitest";
import { pageAt } from "../../app/pages";
import { address, filterIn, idIn, paths } from "./address";

const search = (of: string) => new URL(of, "http://relay").searchParams;

test.each([
  [paths.inbox, address.inbox(), "/"],
  [paths.inbox, address.inbox({ machine: "d1", project: "d1/p1", state: "pinned" }), undefined],
  [paths.machine, address.machine("d1"), "/d/d1"],
  [paths.machine, address.machine("d1", { archived: true }), "/d/d1?archived=true"],
  [paths.machine, address.machine("d1", { archived: false, project: "p1" }), "/d/d1?project=p1"],
  [paths.newSession, address.newSession("d1", { project: "p1", agent: "reviewer" }), undefined],
  [paths.session, address.session("d1", "s1"), "/d/d1/s/s1"],
  [paths.session, address.session("d1", "s1", { entry: "e1" }), "/d/d1/s/s1?entry=e1"],
  [paths.terminals, address.terminals("d1", { project: "p1" }), "/d/d1/terminal?project=p1"],
  [paths.pair, paths.pair, "/pair"],
  [paths.pair, "/pair/", undefined],
  [paths.connection, paths.connection, "/connection"],
  [paths.share, paths.share, "/share"],
  ["*", "/d", undefined],
  ["*", "/d/d1/s", undefined],
  ["*", "/nothing", undefined],
])("the page %s has the address %s", (path, at, text) => {
  expect(pageAt(new URL(at, "http://relay").pathname).path).toBe(path);
  expect(at).toBe(text ?? at);
});

test("a filter is read from its address", () => {
  for (const filter of [{}, { machine: "d1", project: "d1/p 1&2", state: "unread" as const }]) {
    expect(filterIn(search(address.inbox(filter)))).toEqual(filter);
  }
  expect(filterIn(search("/?state=nonsense&machine="))).toEqual({});
});

// Earlier versions wrote strings that could be read as numbers in quotes.
test.each([
  ["?entry=e1", "e1"],
  ["?entry=%2212345678%22", "12345678"],
  ["?entry=%221e345678%22", "1e345678"],
  ["?entry=", undefined],
  ["", undefined],
])("the id in %s", (of, id) => {
  expect(idIn(new URLSearchParams(of), "entry")).toBe(id);
});
