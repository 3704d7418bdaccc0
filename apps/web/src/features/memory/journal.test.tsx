import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { Journal } from "./Journal";

function show(days: Record<string, string>, isOld = false) {
  const host = new FakeScorel().host("dev_one");
  const newest = Object.keys(days).sort().reverse();
  host.handlers.get_journal = ({ day = newest[0] ?? "" }) => {
    if (isOld) {
      throw new ApiError(ApiKind.unknown_request, "unknown request get_journal");
    }
    return { days: newest, day, text: days[day] ?? "" };
  };
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
      <Journal host={host} projectId="p1" />
    </QueryClientProvider>,
  );
}

test("shows the last day, and older ones", async () => {
  show({ "2026-03-04": "- 09:00 one", "2026-03-05": "- 10:00 two" });
  expect((await screen.findByTestId("journal")).textContent).toContain("10:00 two");
  expect(screen.getByTestId("journal-newer")).toHaveProperty("disabled", true);
  fireEvent.click(screen.getByTestId("journal-older"));
  await waitFor(() => expect(screen.getByTestId("journal").textContent).toContain("09:00 one"));
  expect(screen.getByTestId("journal-older")).toHaveProperty("disabled", true);
  fireEvent.click(screen.getByTestId("journal-newer"));
  await waitFor(() => expect(screen.getByTestId("journal").textContent).toContain("10:00 two"));
});

test("says that it is empty", async () => {
  show({});
  expect(await screen.findByText("No entries yet.")).toBeTruthy();
  expect(screen.queryByTestId("journal-older")).toBeNull();
});

test("is absent for an older host", async () => {
  show({}, true);
  await waitFor(() => expect(screen.queryByText("Journal")).toBeNull());
});
