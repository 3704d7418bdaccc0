import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { QuestionReply } from "../../../api/contract";
import { MAX_ANSWER, type Question } from "../../../api/types";
import { setInSight } from "../../../app/testing/browser";
import { question } from "../../../app/testing/builders";
import { NamesContext } from "../context/live-context";
import { SETTLE } from "./press-guard";
import { QuestionCard, type QuestionCardProps } from "./QuestionCard";

beforeEach(() => {
  vi.useFakeTimers();
  setInSight("[data-testid=question-card]");
});
afterEach(() => {
  vi.useRealTimers();
});

function show(onReply: QuestionCardProps["onReply"], more: Partial<Question> = {}, canAnswer = true) {
  const asked = question(more);
  render(
    <NamesContext value={(id) => (id === "cli_phone" ? "Safari on iPhone" : "?")}>
      <QuestionCard question={asked} canAnswer={canAnswer} onReply={onReply} />
    </NamesContext>,
  );
  act(() => vi.advanceTimersByTime(SETTLE));
  return asked;
}

const take = () =>
  vi.fn(async (_: Question, reply: QuestionReply) => ({
    outcome: "answer" in reply ? ("answered" as const) : ("skipped" as const),
    ...reply,
    answeredBy: "cli_me",
    won: true,
  }));
const choices = () => screen.getAllByTestId("question-choice") as HTMLButtonElement[];
const card = () => screen.getByTestId("question-card");

describe("QuestionCard", () => {
  it("shows the question, its choices and when the agent continues", () => {
    show(take(), { deadline: new Date(2026, 0, 2, 17, 5).getTime() });
    for (const part of ["Which database?", "SQLite", "PostgreSQL", "Continues without an answer at"]) {
      expect(card().textContent).toContain(part);
    }
  });

  it("answers with a choice once, however often it is pressed", async () => {
    const onReply = take();
    const asked = show(onReply);
    await act(async () => fireEvent.click(choices()[1] as HTMLElement));
    expect(onReply.mock.calls).toEqual([[asked, { answer: "PostgreSQL" }]]);
    expect(screen.getByTestId("question-outcome").textContent).toBe("You answered: PostgreSQL");
    expect(screen.queryAllByTestId("question-choice")).toEqual([]);
  });

  it("names the MCP server that asks, its page, and declines", async () => {
    const onReply = take();
    const asked = show(onReply, { server: "bank", url: "https://pay.example/x", choices: ["I opened the page"] });
    expect(screen.getByTestId("question-from").textContent).toBe("The MCP server bank asks");
    expect(card().textContent).toContain("Never enter passwords");
    const page = screen.getByTestId("question-page");
    expect([page.getAttribute("href"), page.textContent]).toEqual(["https://pay.example/x", "Open pay.example"]);
    await act(async () => fireEvent.click(screen.getByTestId("question-skip")));
    expect(onReply.mock.calls).toEqual([[asked, { skip: true }]]);
    expect(screen.getByTestId("question-outcome").textContent).toBe("You declined.");
  });

  it("offers no page with an address that is not safe", () => {
    show(take(), { server: "bank", url: "javascript:alert(1)" });
    expect(screen.queryByTestId("question-page")).toBeNull();
  });

  it("accepts a number from the keyboard, except while typing in the field", async () => {
    const onReply = take();
    const asked = show(onReply);
    fireEvent.keyDown(screen.getByTestId("question-answer"), { key: "1" });
    fireEvent.keyDown(choices()[0] as HTMLElement, { key: "3" });
    fireEvent.keyDown(choices()[0] as HTMLElement, { key: "1", ctrlKey: true });
    expect(onReply).not.toHaveBeenCalled();
    await act(async () => fireEvent.keyDown(choices()[0] as HTMLElement, { key: "2" }));
    expect(onReply.mock.calls).toEqual([[asked, { answer: "PostgreSQL" }]]);
  });

  it("accepts a written answer, and reports what is wrong with it", async () => {
    const onReply = take();
    const asked = show(onReply, { choices: [] });
    const field = screen.getByTestId("question-answer");
    const send = () => act(async () => fireEvent.submit(field));
    await send();
    expect(screen.getByRole("alert").textContent).toContain("Enter an answer");
    fireEvent.change(field, { target: { value: "x".repeat(MAX_ANSWER + 1) } });
    await send();
    expect(screen.getByRole("alert").textContent).toContain("too long");
    fireEvent.change(field, { target: { value: " neither, DuckDB " } });
    await send();
    expect(onReply.mock.calls).toEqual([[asked, { answer: "neither, DuckDB" }]]);
  });

  it("leaves the answer to the agent", async () => {
    const onReply = take();
    const asked = show(onReply);
    await act(async () => fireEvent.click(screen.getByTestId("question-skip")));
    expect(onReply.mock.calls).toEqual([[asked, { skip: true }]]);
  });

  it("shows who answered first, and what", async () => {
    show(async () => ({ outcome: "answered", answer: "SQLite", answeredBy: "cli_phone", won: false }));
    await act(async () => fireEvent.click(choices()[1] as HTMLElement));
    expect(screen.getByRole("alert").textContent).toBe("Safari on iPhone answered first: SQLite");
  });

  it("enables the buttons again when the answer was not delivered", async () => {
    show(() => Promise.reject(new Error("The machine cannot be reached.")));
    await act(async () => fireEvent.click(choices()[0] as HTMLElement));
    expect(screen.getByRole("alert").textContent).toContain("cannot be reached");
    expect(choices()[0]?.disabled).toBe(false);
  });

  it("cannot be answered without the grant, and shows invisible characters", () => {
    show(take(), { question: "a\u202Eb?" }, false);
    expect(choices().every((button) => button.disabled)).toBe(true);
    expect(card().textContent).toContain("a<U+202E>b?");
  });
});
