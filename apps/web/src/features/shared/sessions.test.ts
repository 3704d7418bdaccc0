import { describe, expect, it } from "vitest";
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

const idsOf = ({ pages: all }: ReturnType<typeof withSession>) =>
  all.map((page) => page.sessions.map((each) => each.id));

describe("a session that changed", () => {
  it("moves to the first page, once", () => {
    expect(idsOf(withSession(pages(), at("a", 40)))).toEqual([["a", "c", "b"], []]);
  });

  it("is counted when it is new, and not when it was only not here", () => {
    expect(withSession(pages("y"), at("new", 50, 0)).pages[0]?.total).toBe(10);
    expect(withSession(pages("y"), at("far", 50)).pages[0]?.total).toBe(9);
  });

  it("waits for its page when it is older than what is here", () => {
    expect(idsOf(withSession(pages("y"), at("far", 5)))).toEqual([["c", "b"], ["a"]]);
    expect(idsOf(withSession(pages(), at("far", 5)))).toEqual([["far", "c", "b"], ["a"]]);
  });
});
