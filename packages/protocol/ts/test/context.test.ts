/// <reference types="vite/client" />

import { describe, expect, test } from "vitest";
import type golden from "../../testdata/vectors/contexts.json";
// Read as text: Vite's JSON reader does not accept halves of surrogate pairs.
import text from "../../testdata/vectors/contexts.json?raw";
import { fromBase64 } from "../src/base64.ts";
import { contextOf } from "../src/context.ts";
import { NotSession, readSession, type SessionFile } from "../src/file.ts";
import type { Entry } from "../src/gen/session.ts";
import { forestOf, labelsOf, sessionName } from "../src/tree.ts";

type Case = (typeof golden.cases)[number];

const vectors = JSON.parse(text) as typeof golden;

/** As in JSON: without undefined members, and null for NaN. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The tree below the roots. Entries in a cycle are below none. */
function treeOf(entries: readonly Entry[]): unknown {
  const { roots, children } = forestOf(entries);
  const below = new Map<string, unknown>();
  for (const todo = [...roots]; todo.length > 0; ) {
    const id = todo.pop() as string;
    const kids = children.get(id);
    if (kids && !below.has(String(id))) {
      below.set(
        String(id),
        kids.map((kid) => kid ?? null),
      );
      todo.push(...kids);
    }
  }
  return { roots: roots.map((id) => id ?? null), children: Object.fromEntries(below) };
}

function checkSummary(file: SessionFile, want: NonNullable<Case["summary"]>): void {
  const { entries } = file;
  expect(
    plain({
      sessionId: file.header?.id ?? null,
      version: file.header ? (file.header.version ?? null) : 3,
      entryCount: entries.length,
      leafId: entries.at(-1)?.id ?? null,
      entryIds: entries.map((e) => e.id ?? null),
      parentIds: entries.map((e) => e.parentId ?? null),
      labels: Object.fromEntries(labelsOf(entries)),
      name: sessionName(entries) || null,
      migrated: file.migrated,
      torn: file.torn,
      damage: file.damage.map((d) => d.line),
      tree: treeOf(entries),
    }),
  ).toEqual(plain(want));
}

describe("the files that Go reads too", () => {
  test.each(vectors.cases)("$name", (c) => {
    const data = fromBase64(c.file);
    if (!c.summary) {
      expect(() => readSession(data)).toThrow(NotSession);
      return;
    }
    const file = readSession(data);
    checkSummary(file, c.summary);
    const { entries } = file;
    const placeOf = (id: string): number => (id ? entries.findLastIndex((e) => e.id === id) : -1);
    for (const want of c.contexts ?? []) {
      const { sources, ...got } = contextOf(entries, want.leaf ?? undefined);
      const messages = plain(want.messages.map((at) => c.messages?.[at]));
      expect(plain({ leaf: want.leaf, sources: sources.map(placeOf), ...got })).toEqual({
        ...want,
        messages,
      });
    }
  });
});
