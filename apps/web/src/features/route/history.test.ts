import { afterEach, expect, test } from "vitest";
import { adoptEntry, entryState, navigate } from "./history";

afterEach(() => history.replaceState(null, "", "/"));

const state = () => entryState(history.state);

test("each new entry has a key of its own, and knows how many are before it", () => {
  adoptEntry();
  const first = state();
  expect(first.index).toBe(0);
  navigate("/pair");
  expect(location.pathname).toBe("/pair");
  expect(state().index).toBe(1);
  expect(state().key).not.toBe(first.key);
});

test("an entry keeps its key when it is adopted again, replaced, or opened once more", () => {
  adoptEntry();
  navigate("/d/d1/s/s1", { state: { find: "queue" } });
  const opened = state();
  expect(opened.find).toBe("queue");
  const { length } = history;
  adoptEntry();
  navigate("/d/d1/s/s1");
  navigate("/d/d1/s/s1?entry=e1", { replace: true });
  expect(history.length).toBe(length);
  expect(state()).toEqual({ key: opened.key, index: opened.index });
});

test.each([null, 7, "text", {}, { key: 1, index: 1 }, { __TSR_key: "a", __TSR_index: 3 }])("the state %j", (stored) => {
  expect(entryState(stored)).toEqual({ key: "", index: 0 });
});
