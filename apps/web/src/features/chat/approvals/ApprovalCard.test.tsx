import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "../../../api/contract";
import type { Approval } from "../../../api/types";
import { setInSight } from "../../../app/testing/browser";
import { approval } from "../../../app/testing/builders";
import { NamesContext } from "../context/live-context";
import { ApprovalCard, type ApprovalCardProps } from "./ApprovalCard";
import { SETTLE } from "./press-guard";

beforeEach(() => {
  vi.useFakeTimers();
  setInSight("[data-testid=approval-actions]");
});
afterEach(() => {
  vi.useRealTimers();
});

/** Advances time until the card may be allowed. */
const settle = () => act(() => vi.advanceTimersByTime(SETTLE));
const alert = async () => {
  await act(async () => {});
  return screen.getByRole("alert");
};

function show(
  onAnswer: ApprovalCardProps["onAnswer"],
  more: Partial<Approval> = {},
  props: Partial<ApprovalCardProps> = {},
) {
  const asked = approval({ title: "Run a command", detail: "rm -rf build", cwd: "/home/ada/x", ...more });
  render(
    <NamesContext value={(id) => (id === "cli_phone" ? "Safari on iPhone" : "?")}>
      <ApprovalCard approval={asked} canAnswer canKeepRules onAnswer={onAnswer} {...props} />
    </NamesContext>,
  );
  return asked;
}

const take = () => vi.fn(async (_: Approval, answer: Answer) => ({ ...answer, won: true, decidedBy: "cli_me" }));
const button = (name: string) => screen.getByTestId(`approval-${name}`) as HTMLButtonElement;
const every: Partial<Approval> = {
  options: ["allow", "always", "deny", "stop"],
  proposedRules: ["bash(go test *)", "bash(go vet *)"],
};

describe("ApprovalCard", () => {
  it("shows the whole request, its folder and its risks", () => {
    show(vi.fn(), {
      paths: ["a/one.go", "a/two.go"],
      risk: { level: "high", reasons: ["deletes files", "cannot be undone"] },
      reason: "a rule asks",
    });
    const text = screen.getByTestId("approval-card").textContent;
    for (const part of ["Run a command", "rm -rf build", "/home/ada/x", "a/one.go", "a/two.go", "high risk"]) {
      expect(text).toContain(part);
    }
    expect(text).toContain("deletes files; cannot be undone");
    expect(text).toContain("a rule asks");
  });

  it("shows a risk only once", () => {
    show(vi.fn(), {
      risk: { level: "high", reasons: ["a variable is set", "it writes a.txt", "A variable is set."] },
      reason: "a variable is set",
    });
    const text = screen.getByTestId("approval-card").textContent ?? "";
    expect(text.match(/a variable is set/gi)).toHaveLength(1);
    expect(text).toContain("it writes a.txt");
    expect(text).not.toContain("Reason");
  });

  it("shows the command too when the detail differs, and folds long text", () => {
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    show(vi.fn(), { command: "tee out", detail: lines.join("\n") });
    const card = screen.getByTestId("approval-card");
    expect(card.textContent).toContain("tee out");
    expect(card.textContent).not.toContain("line 29");
    expect(button("more").textContent).toBe("Show 10 more lines");
    fireEvent.click(button("more"));
    expect(card.textContent).toContain("line 29");
  });

  it("shows a change as one", async () => {
    vi.useRealTimers();
    show(vi.fn(), { title: "Change a.go", detail: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\n+new\n", isDiff: true });
    expect((await screen.findByRole("table", { name: "Changes in a.go" })).textContent).toContain("new");
  });

  it.each(["allow", "always", "deny", "stop"] as const)(
    "answers %s once, however often it is pressed",
    async (decision) => {
      const onAnswer = take();
      const asked = show(onAnswer, every);
      settle();
      fireEvent.click(button(decision));
      fireEvent.click(button(decision));
      fireEvent.click(button(decision === "allow" ? "deny" : "allow"));
      expect(screen.getByTestId("approval-outcome").textContent).toBe("Sending your answer…");
      await act(async () => {});
      expect(onAnswer).toHaveBeenCalledExactlyOnceWith(asked, { decision });
      expect(screen.queryByRole("alert")).toBeNull();
      expect(screen.getByTestId("approval-outcome").textContent).toMatch(/^You (allowed|denied) it/);
      expect(screen.queryByTestId("approval-allow")).toBeNull();
    },
  );

  it("shows exactly the rules that it would store", () => {
    show(vi.fn(), every);
    const rules = [...screen.getByTestId("approval-rules").children].map((each) => each.textContent);
    expect(rules).toEqual(["bash(go test *)", "bash(go vet *)"]);
  });

  it.each<[string, Partial<Approval>, Partial<ApprovalCardProps>]>([
    ["no rule is proposed", { options: ["allow", "deny", "stop"] }, {}],
    ["this browser may keep none", every, { canKeepRules: false }],
  ])("offers no rule where %s", (_, more, props) => {
    show(vi.fn(), more, props);
    expect(screen.queryByTestId("approval-always")).toBeNull();
    expect(screen.queryByTestId("approval-rules")).toBeNull();
    expect(button("stop").disabled).toBe(false);
  });

  it("offers an older host only the decisions that it knows", () => {
    show(vi.fn());
    expect(screen.queryByTestId("approval-stop")).toBeNull();
    expect(button("allow").disabled).toBe(false);
  });

  it("denies with feedback, which is kept when it could not be sent", async () => {
    const onAnswer = take();
    onAnswer.mockRejectedValueOnce(new Error("The device cannot be reached now."));
    const asked = show(onAnswer, every);
    fireEvent.click(button("word"));
    const field = screen.getByTestId("approval-feedback") as HTMLInputElement;
    fireEvent.change(field, { target: { value: " use make test " } });
    fireEvent.click(button("deny-word"));
    expect((await alert()).textContent).toBe("The device cannot be reached now.");
    expect(field.value).toBe(" use make test ");
    fireEvent.click(button("deny-word"));
    await act(async () => {});
    expect(onAnswer).toHaveBeenLastCalledWith(asked, { decision: "deny", feedback: "use make test" });
  });

  it("does not send feedback that is too long for the machine", () => {
    const onAnswer = take();
    show(onAnswer, every);
    fireEvent.click(button("word"));
    fireEvent.change(screen.getByTestId("approval-feedback"), { target: { value: "é".repeat(4097) } });
    fireEvent.click(button("deny-word"));
    expect(screen.getByRole("alert").textContent).toContain("Shorten it");
    expect(onAnswer).not.toHaveBeenCalled();
  });

  it("writes out invisible characters", () => {
    show(vi.fn(), {
      detail: "echo a\u202E hs | lruc\u200b\n\tb\u001b[2K",
      proposedRules: ["bash(a\u200bb)"],
      options: ["always"],
    });
    const text = screen.getByTestId("approval-card").textContent;
    expect(text).toContain("echo a<U+202E> hs | lruc<U+200B>\n\tb<U+001B>[2K");
    expect(text).toContain("bash(a<U+200B>b)");
  });

  it("shows who answered first, and which answer counts", async () => {
    show(async () => ({ won: false, decidedBy: "cli_phone", decision: "deny" }));
    settle();
    fireEvent.click(button("allow"));
    expect((await alert()).textContent).toContain("Safari on iPhone answered first. Denied.");
  });

  it("shows why the call was released before the answer", async () => {
    show(async () => ({ won: false, decidedBy: "cli_phone", decision: "allow", released: { mode: "auto" } }));
    fireEvent.click(button("deny"));
    expect((await alert()).textContent).toContain(
      "Already allowed by the permission mode “Auto”, after a change by Safari on iPhone.",
    );
  });

  it("can be retried after a failure", async () => {
    show(async () => {
      throw new Error("The device cannot be reached now.");
    });
    settle();
    fireEvent.click(button("allow"));
    expect((await alert()).textContent).toBe("The device cannot be reached now.");
    expect(button("allow").disabled).toBe(false);
  });

  it("keeps the focus while the answer is being sent", () => {
    show(() => new Promise(() => {}), every);
    settle();
    button("allow").focus();
    fireEvent.click(button("allow"));
    expect(document.activeElement).toBe(button("allow"));
    expect(button("allow").getAttribute("aria-busy")).toBe("true");
    expect(button("deny").getAttribute("aria-disabled")).toBe("true");
  });

  it("accepts no answer that cannot be delivered", () => {
    const onAnswer = vi.fn();
    show(onAnswer, every, { canAnswer: false });
    for (const name of ["allow", "always", "deny", "stop", "word"]) {
      fireEvent.click(button(name));
      expect(button(name).getAttribute("aria-disabled")).toBe("true");
      button(name).focus(); // which it would lose if it were disabled
      expect(document.activeElement).toBe(button(name));
    }
    expect(onAnswer).not.toHaveBeenCalled();
  });
});
