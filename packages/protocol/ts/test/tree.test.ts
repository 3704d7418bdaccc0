import { describe, expect, test } from "vitest";
import vectors from "../../testdata/vectors/session.json";
import type { Entry } from "../src/gen/session.ts";
import { blocksOf, forestOf, labelsOf, messagesTo, pathTo, plainText, sessionName } from "../src/tree.ts";

const timestamp = "2026-01-02T03:04:05.000Z";

function user(id: string, parentId: string | null, content = id): Entry {
  return {
    type: "message",
    id,
    parentId,
    timestamp,
    message: { role: "user", content, timestamp: 1 },
  };
}

const ids = (entries: Entry[]): string => entries.map((e) => e.id).join("");

test("the path goes from the root to the leaf, without other branches", () => {
  const entries = [user("a", null), user("b", "a"), user("c", "a"), user("d", "c")];
  expect(ids(pathTo(entries))).toBe("acd");
  expect(ids(pathTo(entries, "b"))).toBe("ab");
  expect(ids(pathTo(entries, "nobody"))).toBe("");
  expect(ids(pathTo([]))).toBe("");
});

test("a cycle is cut, a missing parent ends the path, the later of two equal ids wins", () => {
  expect(ids(pathTo([user("a", "b"), user("b", "a")]))).toBe("ab");
  expect(ids(pathTo([user("a", "a")]))).toBe("a");
  expect(ids(pathTo([user("b", "gone"), user("c", "b")]))).toBe("bc");
  expect(pathTo([user("a", null, "old"), user("a", null, "new")])).toMatchObject([{ message: { content: "new" } }]);
});

test("a path of 200 000 entries", () => {
  const entries = Array.from({ length: 200_000 }, (_, n) => user(String(n), n === 0 ? null : String(n - 1)));
  expect(pathTo(entries)).toHaveLength(entries.length);
});

test("messages, names and text", () => {
  const info = (id: string, name: string): Entry => ({
    type: "session_info",
    id,
    parentId: "a",
    timestamp,
    name,
  });
  const entries = [user("a", null, "hello"), info("n", "first"), info("m", " second ")];
  expect(sessionName(entries)).toBe("second");
  expect(sessionName([])).toBe("");
  expect(messagesTo(entries).map(plainText)).toEqual(["hello"]);
  expect(
    plainText({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      stopReason: "stop",
      timestamp: 1,
    }),
  ).toBe("ab");
  expect(blocksOf({ role: "user", content: "x", timestamp: 1 })).toEqual([{ type: "text", text: "x" }]);
});

describe("the vectors that Go projects too", () => {
  test.each(vectors.cases)("$name", (c) => {
    const entries = c.entries as Entry[];
    const { roots, children } = forestOf(entries);
    expect(roots).toEqual(c.roots);
    for (const [id, kids] of Object.entries(c.children)) {
      expect(children.get(id)).toEqual(kids);
    }
    expect([...labelsOf(entries)]).toEqual(c.labels);
    expect(sessionName(entries)).toBe(c.title);
    expect(entries.at(-1)?.id).toBe(c.leaf);
    for (const [leaf, path] of Object.entries(c.paths)) {
      expect(pathTo(entries, leaf).map((e) => e.id)).toEqual(path);
    }
  });
});
