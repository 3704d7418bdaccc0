import "../../../app/testing/browser";
import { renderHook } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { SessionState } from "../../../api/contract";
import { emptyLive } from "../../../api/projection";
import type { Live, SessionEntry } from "../../../api/types";
import { approval, assistant, custom, question, user } from "../../../app/testing/builders";
import { pendingApprovals } from "../context/pending-approvals";
import { useAnnouncement } from "./use-announcement";

const turn = { turnId: "t", clientKey: "k", startedAt: 0 };

/** Renders the hook with the given states and returns what each of them announces. */
function announced(...states: [Partial<Live>, SessionEntry[]?, string?][]): string[] {
  const use = ([live, entries = [], lastError]: (typeof states)[number]) => {
    const whole = { ...emptyLive(), ...live };
    const state = { live: whole, entries, lastError: lastError ?? null } as unknown as SessionState;
    return useAnnouncement(state, pendingApprovals(whole));
  };
  const [first, ...others] = states;
  const { result, rerender } = renderHook(use, { initialProps: first as (typeof states)[number] });
  const texts = [result.current];
  for (const state of others) {
    rerender(state);
    texts.push(result.current);
  }
  return texts;
}

describe("useAnnouncement", () => {
  it("announces that a turn runs and has ended, but not one that ended before", () => {
    expect(announced([{}, [assistant("Done.")]], [{ turn }], [{}, [assistant("Done.")]])).toEqual([
      "",
      "The agent is working.",
      "The agent has finished.",
    ]);
  });

  it("announces how a turn ended", () => {
    const canceled = [user("Go"), assistant("I", { stopReason: "aborted" })];
    expect(announced([{ turn }], [{}, canceled]).at(-1)).toBe("The turn was canceled.");
    const before = custom("scorel.turn", { turnId: "t", clientKey: "k", stopReason: "aborted" });
    expect(announced([{ turn }], [{}, [assistant("Done."), user("Go"), before]]).at(-1)).toBe("The turn was canceled.");
    expect(announced([{ turn }], [{}, [], "The server refused."]).at(-1)).toBe("The turn failed: The server refused.");
  });

  it("announces each approval and each question", () => {
    const asks = (...titles: string[]) => titles.map((title) => approval({ id: title, title }));
    expect(
      announced(
        [{ turn, approvals: asks("Run make") }],
        [{ turn, approvals: asks("Run make", "Run ls") }],
        [{ turn, approvals: asks("Run ls") }],
        [{ turn, questions: [question()] }],
      ),
    ).toEqual([
      "Approval needed: Run make",
      "2 approvals needed. First: Run make",
      "Approval needed: Run ls",
      "The agent has a question for you: Which database?",
    ]);
  });
});
