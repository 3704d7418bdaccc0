import "../app/testing/browser";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Sheet } from "./Sheet";
import { ToastProvider, useToast } from "./Toast";

afterEach(() => vi.useRealTimers());

let toast: ReturnType<typeof useToast> = () => {};

function Page({ sheets: [title, ...inner] }: { sheets: string[] }) {
  toast = useToast();
  return title === undefined ? null : (
    <Sheet title={title} onClose={() => {}}>
      <Page sheets={inner} />
    </Sheet>
  );
}

const page = (...sheets: string[]) => (
  <ToastProvider>
    <Page sheets={sheets} />
  </ToastProvider>
);

/** Returns the title of the dialog that contains the text, and whether its container existed before. */
const dialogOf = (text: string) => screen.getByText(text).closest("dialog")?.querySelector("h2")?.textContent ?? null;
const places = () => screen.getAllByRole("status", { hidden: true });

test("a toast is in the topmost sheet, where it is not inert, in a container that was announced empty", () => {
  const { rerender } = render(page("Outer"));
  rerender(page("Outer", "Inner"));
  const before = places();
  expect(before.map((each) => each.textContent)).toEqual(["", "", ""]);
  const undo = vi.fn();
  act(() => toast("Reverted.", { label: "Undo", run: undo }));
  expect(dialogOf("Reverted.")).toBe("Inner");
  expect(before.filter((each) => each.textContent?.includes("Reverted."))).toHaveLength(1);
  rerender(page("Outer"));
  expect(dialogOf("Reverted.")).toBe("Outer");
  expect(before).toContain(screen.getByText("Reverted.").closest('[role="status"]'));
  rerender(page());
  expect(dialogOf("Reverted.")).toBe(null);
  expect(before).toContain(screen.getByText("Reverted.").closest('[role="status"]'));
  rerender(page("Another"));
  expect(dialogOf("Reverted.")).toBe("Another");
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  expect(undo).toHaveBeenCalledOnce();
  expect(screen.queryByText("Reverted.")).toBe(null);
});

test("a toast is not extended by a sheet that opens or closes", () => {
  vi.useFakeTimers();
  const { rerender } = render(page());
  act(() => toast("Copied."));
  act(() => vi.advanceTimersByTime(5000));
  rerender(page("Sheet"));
  act(() => vi.advanceTimersByTime(1999));
  expect(dialogOf("Copied.")).toBe("Sheet");
  act(() => vi.advanceTimersByTime(1));
  expect(screen.queryByText("Copied.")).toBe(null);
});
