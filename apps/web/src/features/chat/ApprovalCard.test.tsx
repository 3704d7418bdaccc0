import "../../app/testing/browser";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { approval } from "../../app/testing/builders";
import { ApprovalCard, type ApprovalCardProps } from "./ApprovalCard";
import { NamesContext } from "./live-context";

function show(onAnswer: ApprovalCardProps["onAnswer"], canAnswer = true) {
  const asked = approval({ title: "Run a command", detail: "rm -rf build", cwd: "/home/ada/x" });
  render(
    <NamesContext value={(id) => (id === "cli_phone" ? "Safari on iPhone" : "?")}>
      <ApprovalCard approval={asked} canAnswer={canAnswer} onAnswer={onAnswer} />
    </NamesContext>,
  );
  return asked;
}

const button = (name: "allow" | "deny") => screen.getByTestId(`approval-${name}`) as HTMLButtonElement;

describe("ApprovalCard", () => {
  it("shows the whole of what is asked, and where", () => {
    show(vi.fn());
    const text = screen.getByTestId("approval-card").textContent;
    expect(text).toContain("Run a command");
    expect(text).toContain("rm -rf build");
    expect(text).toContain("/home/ada/x");
  });

  it.each(["allow", "deny"] as const)("answers %s once, however often it is pressed", async (decision) => {
    const onAnswer = vi.fn(async () => ({ won: true, decidedBy: "cli_me" }));
    const asked = show(onAnswer);
    fireEvent.click(button(decision));
    fireEvent.click(button(decision));
    fireEvent.click(button(decision === "allow" ? "deny" : "allow"));
    await act(async () => {});
    expect(onAnswer).toHaveBeenCalledExactlyOnceWith(asked, decision);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("says who was faster", async () => {
    show(async () => ({ won: false, decidedBy: "cli_phone" }));
    fireEvent.click(button("allow"));
    expect((await screen.findByRole("alert")).textContent).toContain("Safari on iPhone had answered already");
  });

  it("can be tried again after a failure", async () => {
    const onAnswer = vi.fn(async () => {
      throw new Error("The device cannot be reached now.");
    });
    show(onAnswer);
    fireEvent.click(button("allow"));
    expect((await screen.findByRole("alert")).textContent).toBe("The device cannot be reached now.");
    expect(button("allow").disabled).toBe(false);
  });

  it("takes no answer that nobody would hear", () => {
    const onAnswer = vi.fn();
    show(onAnswer, false);
    fireEvent.click(button("allow"));
    expect(onAnswer).not.toHaveBeenCalled();
    expect(button("deny").disabled).toBe(true);
  });
});
