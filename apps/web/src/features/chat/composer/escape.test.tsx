import "../../../app/testing/browser";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { StopButton } from "./StopButton";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function show(turn = "t1") {
  const onStop = vi.fn();
  const page = (key: string, stopping = false) => (
    <>
      <section data-transcript tabIndex={-1}>
        <p>text</p>
        <input aria-label="answer" />
      </section>
      <div data-composer>
        <textarea data-testid="area" defaultValue="and then this" />
        <StopButton key={key} onStop={onStop} stopping={stopping} compact={false} />
      </div>
      <input aria-label="find" />
    </>
  );
  const { rerender } = render(page(turn));
  const esc = (target: Element, more = {}) => fireEvent.keyDown(target, { key: "Escape", ...more });
  const show = (key: string, stopping?: boolean) => rerender(page(key, stopping));
  return { onStop, esc, show, area: screen.getByTestId("area") };
}

const label = () => screen.getByTestId("cancel-turn").textContent;

it("stops at the second Escape, and shows a hint after the first", () => {
  const { onStop, esc, area } = show();
  esc(area);
  expect(onStop).not.toHaveBeenCalled();
  expect(label()).toBe("Press Esc again to stop");
  expect(screen.getByRole("status").textContent).toBe("Press Esc again to stop");
  esc(screen.getByText("text"));
  expect(onStop).toHaveBeenCalledOnce();
  expect(label()).toBe("Stop");
});

it("forgets the first one after three seconds, after another key, and with the turn", () => {
  const { onStop, esc, show: showTurn, area } = show();
  esc(area);
  act(() => void vi.advanceTimersByTime(3_000));
  expect(label()).toBe("Stop");
  esc(area);
  fireEvent.keyDown(area, { key: "a" });
  expect(label()).toBe("Stop");
  esc(area);
  showTurn("t2");
  expect(label()).toBe("Stop");
  esc(area);
  showTurn("t2", true);
  esc(area);
  expect(onStop).not.toHaveBeenCalled();
});

it("leaves Escape to its other uses", () => {
  const { onStop, esc, area } = show();
  const prevent = (event: Event) => event.preventDefault();
  esc(screen.getByLabelText("find"));
  esc(screen.getByLabelText("answer"));
  esc(area, { isComposing: true });
  esc(area, { keyCode: 229 });
  esc(area, { repeat: true });
  area.addEventListener("keydown", prevent, { once: true });
  esc(area);
  expect(label()).toBe("Stop");
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.setAttribute("open", "");
  esc(area);
  dialog.remove();
  expect(label()).toBe("Stop");
  expect(onStop).not.toHaveBeenCalled();
});

it("clears a selection first", () => {
  const { esc, area } = show();
  const field = area as HTMLTextAreaElement;
  field.focus();
  field.setSelectionRange(0, 3);
  esc(field);
  expect(label()).toBe("Stop");
  expect(field.selectionStart).toBe(field.selectionEnd);
  field.blur();
  getSelection()?.selectAllChildren(screen.getByText("text"));
  esc(screen.getByText("text"));
  expect(getSelection()?.isCollapsed).toBe(true);
  expect(label()).toBe("Stop");
  esc(screen.getByText("text"));
  expect(label()).toBe("Press Esc again to stop");
});
