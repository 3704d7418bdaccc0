import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test } from "vitest";
import type { Budget, Requests } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { type FakeHost, FakeScorel } from "../../app/testing/fake-scorel";
import BudgetList from "./BudgetList";
import BudgetStop from "./BudgetStop";

const ofSession: Budget = {
  scope: "session",
  id: "s1",
  cost: 2,
  tokens: 0,
  usedCost: 2.5,
  usedTokens: 9,
  exceeded: true,
};
const ofDay: Budget = { scope: "day", cost: 0, tokens: 1000, extraTokens: 500, usedCost: 0, usedTokens: 600 };

function show(draw: (host: FakeHost) => ReactNode) {
  const host = new FakeScorel().host("dev_one");
  const world = { budgets: [ofSession, ofDay] };
  host.handlers.get_budgets = () => ({ budgets: world.budgets });
  render(<QueryClientProvider client={new QueryClient()}>{draw(host)}</QueryClientProvider>);
  const sent = <K extends keyof Requests>(name: K) =>
    host.requests.filter((each) => each.name === name).map(({ fields }) => fields);
  return { host, world, sent };
}

test("budgets show what is used, and limits are set", async () => {
  const { host, sent } = show((each) => <BudgetList host={each} info={hostInfo()} sessionId="s1" />);
  host.handlers.set_budget = () => ({ budget: ofSession });
  const [session, day] = await screen.findAllByTestId("budget");
  expect(session?.textContent).toContain("used up$2.50 of $2.00");
  expect(day?.textContent).toContain("600 of 1.5K tokens");
  const [set] = screen.getAllByTestId("budget-set");
  fireEvent.click(set as HTMLElement);
  fireEvent.change(screen.getByTestId("budget-cost"), { target: { value: "7.5" } });
  fireEvent.click(screen.getByTestId("budget-submit"));
  await screen.findByText("Saved the limits.");
  expect(sent("set_budget")).toEqual([{ scope: "session", id: "s1", cost: 7.5 }]);
});

test("amounts that are not numbers are not sent", async () => {
  const { sent } = show((each) => <BudgetList host={each} info={hostInfo()} sessionId="s1" />);
  const [more] = await screen.findAllByTestId("budget-more");
  fireEvent.click(more as HTMLElement);
  fireEvent.change(screen.getByTestId("budget-cost"), { target: { value: "much" } });
  expect(screen.getByTestId("budget-submit").hasAttribute("disabled")).toBe(true);
  fireEvent.change(screen.getByTestId("budget-cost"), { target: { value: "-1" } });
  expect(screen.getByTestId("budget-submit").hasAttribute("disabled")).toBe(true);
  expect(sent("lift_budget")).toEqual([]);
});

test("a turn that stopped continues once no budget is used up any more", async () => {
  let continued = 0;
  const { host, world, sent } = show((each) => (
    <BudgetStop
      host={each}
      info={hostInfo()}
      sessionId="s1"
      onContinue={async () => {
        continued++;
      }}
    />
  ));
  const over: Budget = { ...ofDay, usedTokens: 1600, exceeded: true };
  host.handlers.lift_budget = ({ scope }) => {
    world.budgets = scope === "session" ? [{ ...ofSession, exceeded: false }, over] : [];
    return { budget: ofSession };
  };
  expect((await screen.findByTestId("budget-stop")).textContent).toContain("have used $2.50 of $2.00");
  fireEvent.click(screen.getByTestId("budget-lift"));
  await screen.findByText(/1.6K tokens of 1.5K tokens today/);
  expect(continued).toBe(0);
  fireEvent.change(screen.getByTestId("budget-tokens"), { target: { value: "500" } });
  fireEvent.click(screen.getByTestId("budget-submit"));
  await waitFor(() => expect(continued).toBe(1));
  expect(sent("lift_budget")).toEqual([
    { scope: "session", id: "s1" },
    { scope: "day", tokens: 500 },
  ]);
});

test("a browser that may not change budgets is told who can", async () => {
  const info = hostInfo({ grants: ["view", "prompt"] });
  show((each) => <BudgetStop host={each} info={info} sessionId="s1" onContinue={async () => {}} />);
  await screen.findByText("Someone who may change budgets can add to it or lift it.");
  expect(screen.queryByTestId("budget-lift")).toBeNull();
});
