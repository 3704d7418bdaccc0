import "../app/testing/browser";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Sheet } from "./Sheet";

test("canceling a sheet or a file picker within a sheet leaves that sheet open", () => {
  const outer = vi.fn();
  const inner = vi.fn();
  render(
    <Sheet title="Outer" onClose={outer}>
      <input type="file" data-testid="file" />
      <Sheet title="Inner" onClose={inner}>
        sure?
      </Sheet>
    </Sheet>,
  );
  // As in browsers: the event of a dialog does not bubble, that of a file picker does.
  const cancel = (element: Element, bubbles = false) =>
    fireEvent(element, new Event("cancel", { bubbles, cancelable: true }));
  cancel(screen.getByTestId("file"), true);
  expect(outer).not.toHaveBeenCalled();
  cancel(screen.getByText("Inner").closest("dialog") as Element);
  expect([inner.mock.calls.length, outer.mock.calls.length]).toEqual([1, 0]);
  cancel(screen.getByText("Outer").closest("dialog") as Element);
  expect([inner.mock.calls.length, outer.mock.calls.length]).toEqual([1, 1]);
});

test("a click beside a sheet closes it, unless its press began inside", () => {
  const onClose = vi.fn();
  render(
    <Sheet title="Notes" onClose={onClose}>
      <textarea />
    </Sheet>,
  );
  const dialog = screen.getByText("Notes").closest("dialog") as Element;
  // The browser reports a click for what both elements are in.
  fireEvent.pointerDown(screen.getByRole("textbox"));
  fireEvent.click(dialog);
  expect(onClose).not.toHaveBeenCalled();
  fireEvent.pointerDown(dialog);
  fireEvent.click(dialog);
  expect(onClose).toHaveBeenCalledOnce();
});
