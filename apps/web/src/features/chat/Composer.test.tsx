import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { setMedia } from "../../app/testing/browser";
import { Composer, type ComposerProps } from "./Composer";

function show(change: Partial<ComposerProps> = {}) {
  const props: ComposerProps = {
    draftKey: "d/s",
    onSend: vi.fn(),
    onCancel: null,
    cancelling: false,
    blocked: null,
    ...change,
  };
  const view = render(<Composer {...props} />);
  const area = screen.getByTestId("composer") as HTMLTextAreaElement;
  const type = (text: string) => fireEvent.change(area, { target: { value: text } });
  return { ...view, props, area, type };
}

describe("Composer", () => {
  it("sends with Enter and is empty again", () => {
    const { area, type, props } = show();
    type("  hello ");
    fireEvent.keyDown(area, { key: "Enter" });
    expect(props.onSend).toHaveBeenCalledExactlyOnceWith("hello");
    expect(area.value).toBe("");
  });

  it("keeps Shift+Enter for a new line", () => {
    const { area, type, props } = show();
    type("hello");
    const event = fireEvent.keyDown(area, { key: "Enter", shiftKey: true });
    expect(event).toBe(true);
    expect(props.onSend).not.toHaveBeenCalled();
  });

  it("leaves Enter to an input method that composes", () => {
    const { area, type, props } = show();
    type("にほ");
    fireEvent.keyDown(area, { key: "Enter", isComposing: true });
    fireEvent.keyDown(area, { key: "Enter", keyCode: 229 });
    expect(props.onSend).not.toHaveBeenCalled();
  });

  it("makes Enter a new line under a finger; the button sends", () => {
    setMedia("(pointer: coarse)", true);
    const { area, type, props } = show();
    type("hello");
    expect(fireEvent.keyDown(area, { key: "Enter" })).toBe(true);
    expect(props.onSend).not.toHaveBeenCalled();
    fireEvent.click(screen.getByTestId("send"));
    expect(props.onSend).toHaveBeenCalledExactlyOnceWith("hello");
  });

  it("sends nothing that is blank", () => {
    const { area, type, props } = show();
    type(" \n ");
    fireEvent.keyDown(area, { key: "Enter" });
    expect(props.onSend).not.toHaveBeenCalled();
    expect((screen.getByTestId("send") as HTMLButtonElement).disabled).toBe(true);
  });

  it("stays open while a turn runs, and can stop it", () => {
    const onCancel = vi.fn();
    const { area, type, props } = show({ onCancel });
    type("and then this");
    fireEvent.keyDown(area, { key: "Enter" });
    expect(props.onSend).toHaveBeenCalledExactlyOnceWith("and then this");
    fireEvent.click(screen.getByTestId("cancel-turn"));
    expect(onCancel).toHaveBeenCalledOnce();
  });

  it("offers no second stop while one is under way", () => {
    show({ onCancel: vi.fn(), cancelling: true });
    expect((screen.getByTestId("cancel-turn") as HTMLButtonElement).disabled).toBe(true);
  });

  it("keeps a text that is too long, and says what to do", () => {
    const { area, type, props } = show();
    const long = "ä".repeat(600_000);
    type(long);
    fireEvent.keyDown(area, { key: "Enter" });
    expect(props.onSend).not.toHaveBeenCalled();
    expect(area.value).toBe(long);
    expect(screen.getByRole("alert").textContent).toContain("put it in a file");
  });

  it("brings a draft back with its session, and no other", () => {
    const first = show();
    first.type("half a thought");
    first.unmount();
    const other = show({ draftKey: "d/other" });
    expect(other.area.value).toBe("");
    other.unmount();
    const again = show();
    expect(again.area.value).toBe("half a thought");
    fireEvent.keyDown(again.area, { key: "Enter" });
    again.unmount();
    expect(show().area.value).toBe("");
  });

  it("takes nothing while it is blocked, and says why", () => {
    const { area } = show({ blocked: "This session can be read, not continued" });
    expect(area.disabled).toBe(true);
    expect(area.placeholder).toBe("This session can be read, not continued");
  });
});
