import "../../../app/testing/browser";
import { act, render, screen } from "@testing-library/react";
import { beforeAll, expect, it, vi } from "vitest";
import type { SessionEntry } from "../../../api/types";
import { assistant, user } from "../../../app/testing/builders";
import { FakeSession } from "../../../app/testing/fake-scorel";
import { onlyGrew } from "../context/partial";
import { lateReader } from "../text/late-reader";
import { Rows } from "./Rows";
import { RowView } from "./RowView";
import { RowNames } from "./row-names";
import { buildRows } from "./rows";

beforeAll(async () => {
  await lateReader.load();
});

vi.mock(import("./RowView"), async (load) => {
  const real = await load();
  return { ...real, RowView: vi.fn(real.RowView) };
});

const begun = [user("Hello"), assistant("Hi."), user("Go on.")];
const text = (said: string) => ({ partial: [{ type: "text" as const, text: said }] });

function page(session: FakeSession, entries: readonly SessionEntry[], writes: boolean) {
  const rows = buildRows(entries);
  const writer = writes ? { view: session, model: "m", demo: false } : null;
  return <Rows {...{ rows, first: 0, last: rows.length, sought: undefined, me: undefined, writer }} />;
}

const answers = () => screen.getAllByTestId("message-assistant");
const paragraphs = () => [...(answers().at(-1)?.querySelectorAll("p") ?? [])];

it("renders only the answer while it streams, and keeps its elements when it has ended", () => {
  const session = new FakeSession("s1");
  session.patchLive(text("First.\n\nSec"));
  const { rerender } = render(page(session, begun, true));
  const answer = answers().at(-1);
  const drawn = paragraphs();
  expect(answer?.getAttribute("data-streaming")).toBe("true");
  expect(answer?.getAttribute("aria-busy")).toBe("true");
  vi.mocked(RowView).mockClear();
  act(() => session.patchLive(text("First.\n\nSecond.")));
  act(() => session.patchLive(text("First.\n\nSecond.\n\nThird")));
  expect(vi.mocked(RowView)).toHaveBeenCalledTimes(2);
  expect(paragraphs().map((each) => each.textContent)).toEqual(["First.", "Second.", "Third"]);

  const ended = [...begun, assistant("First.\n\nSecond.\n\nThird.")];
  act(() => {
    session.patchLive({ partial: [] });
    rerender(page(session, ended, false));
  });
  expect(answers().at(-1)).toBe(answer);
  expect(answer?.hasAttribute("data-streaming")).toBe(false);
  expect(answer?.getAttribute("data-stop")).toBe("stop");
  expect(paragraphs()[0]).toBe(drawn[0]);
  expect(paragraphs().map((each) => each.textContent)).toEqual(["First.", "Second.", "Third."]);
});

it("gives the row of an answer the key that it streamed under, and the next answer another one", () => {
  const names = new RowNames();
  const rows = buildRows(begun);
  names.update(rows, false);
  const first = names.update(rows, true);
  const more = buildRows([...begun, assistant("One"), assistant("Two")], rows);
  const second = names.update(more, true);
  expect(second).not.toBe(first);
  expect(more.map(({ key }) => names.of(key))).toEqual([...rows.map(({ key }) => key), first, more[4]?.key]);
  // Earlier rows, and none that streamed.
  expect(names.update(buildRows([user("Earlier"), ...begun], more), true)).toBe(second);
});

it("distinguishes a text that grew from every other change", () => {
  const session = new FakeSession("s1");
  session.patchLive(text("a"));
  const before = session.state.get();
  const after = (change: () => void) => {
    change();
    const now = session.state.get();
    session.state.set(before);
    return onlyGrew(before, now);
  };
  expect(after(() => session.patchLive(text("ab")))).toBe(true);
  expect(after(() => session.patchLive({ partial: [] }))).toBe(false);
  expect(after(() => session.patchLive({ partial: [...text("a").partial, { type: "thinking", text: "" }] }))).toBe(
    false,
  );
  expect(after(() => session.patchLive({ ...text("ab"), queue: [] }))).toBe(false);
  expect(after(() => session.patchLive({ ...text("ab"), unattended: true }))).toBe(false);
  expect(after(() => session.patch({ entries: [] }))).toBe(false);
});
