import "../../../app/testing/browser";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { result, user } from "../../../app/testing/builders";
import { PinnedTasks } from "./PinnedTasks";

const todos = (...states: string[]) =>
  result("c1", "todo", "items", false, {
    todos: states.map((status, i) => ({ id: `t${i}`, content: `Task ${i + 1}`, status })),
  });

test("the tasks stay in view while the agent works, with the current one, and open as a list", () => {
  const before = [user("Do it"), todos("completed", "in_progress", "pending", "cancelled")];
  const { rerender } = render(<PinnedTasks entries={before} working />);
  const toggle = screen.getByTestId("pinned-tasks-toggle");
  expect(toggle.textContent).toBe("1 of 3 doneTask 2");
  expect(screen.queryByTestId("checklist")).toBeNull();
  fireEvent.click(toggle);
  expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
    "done: Task 1",
    "in progress: Task 2",
    "to do: Task 3",
    "canceled: Task 4",
  ]);
  const after = [...before, todos("completed", "completed", "in_progress", "cancelled")];
  rerender(<PinnedTasks entries={after} working />);
  expect(toggle.textContent).toBe("2 of 3 doneTask 3");
  rerender(<PinnedTasks entries={after} working={false} />);
  expect(screen.queryByTestId("pinned-tasks")).toBeNull();
});
