import "../../app/testing/browser";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { summary } from "../../app/testing/builders";
import { costOf, SessionSpent } from "./SessionSpent";

const tokens = (input: number, cost: number) => ({ input, output: 1, cacheRead: 0, cacheWrite: 0, cost });

test("the total includes the session's subagents, but not usage inherited by a fork", () => {
  const session = {
    ...summary("s1", "p1", "A session"),
    usage: tokens(1000, 1),
    auxiliary: tokens(10, 0.25),
    delegated: tokens(500, 2),
    inherited: tokens(7000, 40),
    uncounted: 3,
  };
  expect(costOf(session)).toBe(3.25);
  render(<SessionSpent session={session} />);
  const shown = screen.getByTestId("session-spent").textContent;
  expect(shown).toContain("$3.25");
  expect(shown).toContain("Subagents: 500 tokens in, 1 out, $2.00");
  expect(shown).toContain("Inherited from the original (not counted): 7K tokens in, 1 out, $40.00");
  expect(shown).toContain("Interrupted calls (usage unknown): 3");
});

test("a session without known usage shows nothing", () => {
  const { container } = render(<SessionSpent session={summary("s1", "p1", "A session")} />);
  expect(container.textContent).toBe("");
});
