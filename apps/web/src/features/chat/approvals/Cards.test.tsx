import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Answer, Answered, SessionState, SessionView } from "../../../api/contract";
import { emptyLive } from "../../../api/projection";
import type { Approval, Live, SessionEntry, SubagentChild } from "../../../api/types";
import { setInSight } from "../../../app/testing/browser";
import { approval, custom, question } from "../../../app/testing/builders";
import { NamesContext } from "../context/live-context";
import { pendingApprovals } from "../context/pending-approvals";
import { Cards } from "./Cards";

// What the page promises, in milliseconds.
const SETTLE = 600;
const STAY = 4000;

beforeEach(() => {
  vi.useFakeTimers();
  setInSight("[data-testid=approval-actions], [data-testid=question-card]");
});
afterEach(() => {
  vi.useRealTimers();
});

const options = ["allow", "always", "deny", "stop"] as const;
const asks = (...names: string[]) =>
  names.map((name) =>
    approval({ id: name, title: `Run ${name}`, options: [...options], proposedRules: [`bash(${name})`] }),
  );
const decision = (approvalId: string, made: string, decidedBy: string) =>
  custom("scorel.approval", { approvalId, toolCallId: "c1", decision: made, decidedBy });

/** Renders a session with cards and a field beside them. */
function open(live: Partial<Live>, won: Partial<Answered> = {}) {
  const answers: [string, Answer][] = [];
  const answer = async (asked: Approval, given: Answer): Promise<Answered> => {
    answers.push([asked.id, given]);
    return { ...given, decidedBy: "cli_me", won: true, ...won };
  };
  const view = { answer } as unknown as SessionView;
  const page = (live: Live, entries: SessionEntry[]) => (
    <NamesContext value={(id) => (id === "cli_anna" ? "Anna's phone" : "this browser")}>
      <section data-transcript tabIndex={-1} aria-label="Transcript">
        <Cards
          state={{ live, entries, status: "live" } as unknown as SessionState}
          view={view}
          pending={pendingApprovals(live)}
          me="cli_me"
          canAnswer
          canReply
          canKeepRules
        />
      </section>
      <textarea data-testid="field" />
    </NamesContext>
  );
  const { rerender } = render(page({ ...emptyLive(), ...live }, []));
  const show = (live: Partial<Live>, entries: SessionEntry[] = []) =>
    rerender(page({ ...emptyLive(), ...live }, entries));
  return { answers, show };
}

const settle = () => act(() => vi.advanceTimersByTime(SETTLE));
const card = (title: string) => screen.getByRole("group", { name: `Approval: ${title}` });
const within = (title: string, button: string) =>
  card(title).querySelector(`[data-testid="approval-${button}"]`) as HTMLButtonElement;
const heading = (title: string) => screen.getByRole("heading", { name: title });
const press = (key: string, more: KeyboardEventInit = {}, at: Element = document.activeElement ?? document.body) =>
  act(async () => void fireEvent.keyDown(at, { key, ...more }));

describe("a press on a card that has just appeared", () => {
  it("allows nothing before the card has been visible for a while", async () => {
    const { answers } = open({ approvals: asks("one") });
    for (const name of ["allow", "always"]) {
      fireEvent.click(within("Run one", name));
      expect(within("Run one", name).getAttribute("aria-disabled")).toBe("true");
    }
    act(() => vi.advanceTimersByTime(SETTLE - 1));
    fireEvent.click(within("Run one", "allow"));
    expect(screen.getByTestId("approval-outcome").textContent).toContain("had just appeared");
    expect(answers).toEqual([]);
    settle();
    expect(within("Run one", "allow").getAttribute("aria-disabled")).toBeNull();
    await act(async () => fireEvent.click(within("Run one", "allow")));
    expect(answers).toEqual([["one", { decision: "allow" }]]);
  });

  it("does not allow the next of four with the second click", async () => {
    const { answers, show } = open({ approvals: asks("one", "two", "three", "four") });
    settle();
    await act(async () => fireEvent.click(within("Run one", "allow")));
    for (const wait of [0, 200, 250]) {
      act(() => vi.advanceTimersByTime(wait));
      fireEvent.click(within("Run two", "allow"));
    }
    show({ approvals: asks("two", "three", "four") }, [decision("one", "allow", "cli_me")]);
    for (const wait of [0, 50, 50]) {
      act(() => vi.advanceTimersByTime(wait));
      fireEvent.click(within("Run two", "allow"));
    }
    expect(answers).toEqual([["one", { decision: "allow" }]]);
    settle();
    await act(async () => fireEvent.click(within("Run two", "allow")));
    expect(answers.map(([id]) => id)).toEqual(["one", "two"]);
  });

  it("denies at once", async () => {
    const { answers } = open({ approvals: asks("one") });
    await act(async () => fireEvent.click(within("Run one", "deny")));
    expect(answers).toEqual([["one", { decision: "deny" }]]);
  });

  it("chooses no answer to a question", async () => {
    open({ questions: [question()] });
    const choice = screen.getAllByTestId("question-choice")[0] as HTMLElement;
    fireEvent.click(choice);
    fireEvent.keyDown(choice, { key: "1" });
    expect(screen.getByTestId("question-outcome").textContent).toContain("had just appeared");
  });
});

describe("the focus", () => {
  it("goes to the heading of the next card, then stays on the last", async () => {
    const { show } = open({ approvals: asks("one", "two") });
    settle();
    within("Run one", "allow").focus();
    await act(async () => fireEvent.click(within("Run one", "allow")));
    expect(document.activeElement).toBe(heading("Run two"));
    settle();
    within("Run two", "deny").focus();
    await act(async () => fireEvent.click(within("Run two", "deny")));
    show({}, [decision("one", "allow", "cli_me"), decision("two", "deny", "cli_me")]);
    expect(document.activeElement).toBe(heading("Run two"));
    show({ approvals: asks("three") }, []);
    expect(document.activeElement).toBe(heading("Run three"));
  });

  it("moves to the transcript when the last card disappears", async () => {
    const { show } = open({ approvals: asks("one") });
    within("Run one", "deny").focus();
    await act(async () => fireEvent.click(within("Run one", "deny")));
    show({});
    act(() => vi.advanceTimersByTime(STAY));
    expect(document.activeElement).toBe(screen.getByRole("region"));
  });

  it("stays where it is when another person answers, or when it has moved on", async () => {
    const { show } = open({ approvals: asks("one", "two", "three") });
    screen.getByTestId("field").focus();
    show({ approvals: asks("two", "three") }, [decision("one", "deny", "cli_anna")]);
    expect(document.activeElement).toBe(screen.getByTestId("field"));
    await act(async () => {
      fireEvent.click(within("Run two", "deny"));
      screen.getByTestId("field").focus();
    });
    expect(document.activeElement).toBe(screen.getByTestId("field"));
  });

  it("leaves a card that another person answers", () => {
    const { show } = open({ approvals: asks("one", "two") });
    within("Run one", "allow").focus();
    show({ approvals: asks("two") }, [decision("one", "deny", "cli_anna")]);
    expect(document.activeElement).toBe(heading("Run two"));
  });
});

describe("an answered card", () => {
  it.each([
    ["allow", "cli_me", "You allowed it."],
    ["deny", "cli_anna", "Denied from Anna's phone."],
    ["always", "cli_anna", "Allowed from Anna's phone; rule saved."],
    ["stop", "cli_me", "You denied it; turn stopped."],
    ["cancelled", "host", "The turn was canceled."],
  ])("shows %s by %s: %s, and disappears after a while", (made, by, text) => {
    const { show } = open({ approvals: asks("one") });
    show({}, [decision("one", made, by)]);
    expect(screen.getByTestId("approval-outcome").textContent).toBe(text);
    expect(screen.queryByTestId("approval-card")).toBeNull();
    expect(screen.queryByRole("button", { name: "Allow once" })).toBeNull();
    act(() => vi.advanceTimersByTime(STAY - 1));
    expect(card("Run one")).toBeTruthy();
    act(() => vi.advanceTimersByTime(1));
    expect(screen.queryByTestId("approval-answered")).toBeNull();
  });

  it("keeps its place among the waiting ones", () => {
    const { show } = open({ approvals: asks("one", "two", "three") });
    show({ approvals: asks("one", "three", "four") });
    const titles = screen.getAllByRole("heading").map((each) => each.textContent);
    expect(titles).toEqual(["Run one", "Run two", "Run three", "Run four"]);
  });

  it("shows who answered first, even if the card is gone before the reply", async () => {
    const { show } = open({ approvals: asks("one") }, { won: false, decision: "deny", decidedBy: "cli_anna" });
    settle();
    fireEvent.click(within("Run one", "allow"));
    show({}, [decision("one", "deny", "cli_anna")]);
    expect(screen.getByRole("alert").textContent).toBe("Anna's phone answered first. Denied.");
    await act(async () => {});
    expect(screen.getByRole("alert").textContent).toBe("Anna's phone answered first. Denied.");
  });

  it("shows who answered for a subagent, even after its batch has ended", () => {
    const crew = (more: Partial<SubagentChild>) => {
      const child = { sessionId: "s2", agent: "explore", title: "Look around", state: "running" as const, ...more };
      return [{ toolCallId: "c1", entryId: "e1", startedAt: 0, children: [child] }];
    };
    const { show } = open({ crew: crew({ approvals: asks("one") }) });
    show({ crew: crew({ decided: [{ approvalId: "one", decision: "deny", decidedBy: "cli_anna" }] }) });
    show({});
    expect(screen.getByTestId("approval-outcome").textContent).toBe("Denied from Anna's phone.");
  });

  it("shows the answer to a question, whoever gave it", () => {
    const { show } = open({ questions: [question()] });
    const answered = { questionId: "q1", toolCallId: "c1", outcome: "answered", answer: "SQLite" };
    show({}, [custom("scorel.question", { ...answered, answeredBy: "cli_anna" })]);
    expect(screen.getByTestId("question-answered").textContent).toContain("Anna's phone answered: SQLite");
    act(() => vi.advanceTimersByTime(STAY));
    expect(screen.queryByTestId("question-answered")).toBeNull();
  });
});

describe("keys", () => {
  it.each<[string, KeyboardEventInit, Answer["decision"]]>([
    ["a", {}, "allow"],
    ["A", { shiftKey: true }, "always"],
    ["d", {}, "deny"],
  ])("%s answers the first card while nothing has the focus", async (key, more, made) => {
    const { answers } = open({ approvals: asks("one", "two") });
    await press(key, more);
    expect(answers).toEqual([]);
    settle();
    await press(key, { ...more, repeat: true });
    await press(key, { ...more, ctrlKey: true });
    expect(answers).toEqual([]);
    await press(key, more);
    expect(answers).toEqual([["one", { decision: made }]]);
  });

  it("answer the card that has the focus", async () => {
    const { answers } = open({ approvals: asks("one", "two") });
    settle();
    act(() => heading("Run two").focus());
    await press("a");
    expect(answers).toEqual([["two", { decision: "allow" }]]);
  });

  it("wait for the next card too", async () => {
    const { answers } = open({ approvals: asks("one", "two") });
    settle();
    act(() => heading("Run one").focus());
    await press("a");
    await press("a");
    expect(answers).toEqual([["one", { decision: "allow" }]]);
    settle();
    await press("a");
    expect(answers.map(([id]) => id)).toEqual(["one", "two"]);
  });

  it.each([
    ["a", {}, "choice:1"],
    ["A", { shiftKey: true }, undefined],
    ["d", {}, "choice:0"],
  ])("%s gives the answer of another program that means the same", async (key, more, made) => {
    const choices = [
      { decision: "choice:0", name: "No", kind: "reject_once" },
      { decision: "choice:1", name: "Yes", kind: "allow_once" },
    ] as unknown as NonNullable<Approval["choices"]>;
    const options = ["choice:0", "choice:1", "stop"] as unknown as NonNullable<Approval["options"]>;
    const { answers } = open({ approvals: [approval({ id: "one", title: "Run one", options, choices })] });
    expect(within("Run one", "choice:1").getAttribute("aria-keyshortcuts")).toBe("A");
    settle();
    await press(key, more);
    expect(answers).toEqual(made ? [["one", { decision: made }]] : []);
  });

  it("do nothing in a field, and select only what the host offers", async () => {
    const { answers, show } = open({ approvals: asks("one") });
    settle();
    await press("a", {}, screen.getByTestId("field"));
    fireEvent.click(screen.getByTestId("approval-word"));
    await press("a", {}, screen.getByTestId("approval-feedback"));
    show({ approvals: [approval({ id: "two", title: "Run two" })] });
    settle();
    await press("A", { shiftKey: true });
    expect(answers).toEqual([]);
  });
});
