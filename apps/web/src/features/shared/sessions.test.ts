// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { SessionSummary } from "../../api/types";
import { summary } from "../../app/testing/builders";
import { withSession } from "./sessions";

const at = (id: string, updatedAt: number, messageCount = 1) => summary(id, "p1", id, { updatedAt, messageCount });

const pages = (next?: string) => ({
  pageParams: ["", "x"],
  pages: [
    { sessions: [at("c", 30), at("b", 20)], next: "x", total: 9 },
    { sessions: [at("a", 10)], total: 9, ...(next ? { next } : {}) },
  ],
});

const asArchived = (session: SessionSummary) => ({ ...session, archived: true });

const idsOf = ({ pages: all }: ReturnType<typeof withSession>) =>
  all.map((page) => page.sessions.map((each) => each.id));

describe("a session that changed", () => {
  it("moves to the first page, once", () => {
    expect(idsOf(withSession(pages(), at("a", 40)))).toEqual([["a", "c", "b"], []]);
  });

  it("is counted when it is new, and not when it was only not loaded", () => {
    expect(withSession(pages("y"), at("new", 50, 0)).pages[0]?.total).toBe(10);
    expect(withSession(pages("y"), at("far", 50)).pages[0]?.total).toBe(9);
  });

  it("waits for its page when it is older than the loaded ones", () => {
    expect(idsOf(withSession(pages("y"), at("far", 5)))).toEqual([["c", "b"], ["a"]]);
    expect(idsOf(withSession(pages(), at("far", 5)))).toEqual([["far", "c", "b"], ["a"]]);
  });

  it("is new in a completely loaded list", () => {
    expect(withSession(pages(), at("back", 25)).pages[0]?.total).toBe(10);
  });

  it("leaves the list when it is archived, and returns from the archive", () => {
    const archived = { ...at("b", 20), archived: true };
    const after = withSession(pages(), archived);
    expect(idsOf(after)).toEqual([["c"], ["a"]]);
    expect(after.pages[0]?.total).toBe(8);
    expect(withSession(after, archived)).toBe(after);
    const archive = { pageParams: [""], pages: [{ sessions: [at("x", 1)].map(asArchived), total: 1 }] };
    const filled = withSession(archive, archived, true);
    expect(idsOf(filled)).toEqual([["b", "x"]]);
    expect(filled.pages[0]?.total).toBe(2);
    expect(idsOf(withSession(filled, at("b", 20), true))).toEqual([["x"]]);
  });

  it("is shown at once when it is pinned, however old it is", () => {
    expect(idsOf(withSession(pages("y"), { ...at("old", 1), pinned: true }))).toEqual([["old", "c", "b"], ["a"]]);
  });

  it("waits for its page when it is new and only pinned ones are loaded", () => {
    const pinned = { pageParams: [""], pages: [{ sessions: [{ ...at("p", 1), pinned: true }], next: "x", total: 3 }] };
    expect(withSession(pinned, at("new", 50))).toBe(pinned);
  });
});
