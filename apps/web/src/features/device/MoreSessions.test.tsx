import { render } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { setInSight } from "../../app/testing/browser";
import { MoreSessions } from "./MoreSessions";

it("loads another page while the end of the list is in view", () => {
  setInSight("[data-testid=more-sessions]");
  const onMore = vi.fn();
  const { rerender } = render(<MoreSessions state="some" shown={20} onMore={onMore} />);
  expect(onMore).toHaveBeenCalledTimes(1);
  rerender(<MoreSessions state="some" shown={40} onMore={onMore} />);
  expect(onMore).toHaveBeenCalledTimes(2);
  rerender(<MoreSessions state="none" shown={50} onMore={onMore} />);
  expect(onMore).toHaveBeenCalledTimes(2);
});
