import "./testing/browser";
import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { AtCurrentEntry } from "../features/route/entry";
import { adoptEntry, navigate } from "../features/route/history";
import { ScorelContext } from "../features/shared/scorel-context";
import { loadAhead } from "./load-ahead";
import { Pages } from "./Pages";
import { loadPage } from "./pages";
import { FakeScorel } from "./testing/fake-scorel";

/** How the code of the pairing page arrives. */
const arrival = vi.hoisted(() => ({ asked: 0, next: (): Promise<void> => Promise.resolve() }));

vi.mock("../features/pair/PairPage", async () => ({ PairPage: () => <h1>Pairing</h1> }));
vi.mock("../features/connection/ConnectionPage", async () => ({ ConnectionPage: () => <h1>Connection</h1> }));
vi.mock("../features/shared/late", async (original) => {
  const { late } = await original<typeof import("../features/shared/late")>();
  return {
    late: <T,>(fetch: () => Promise<T>) =>
      late(async () => {
        arrival.asked++;
        await arrival.next();
        return fetch();
      }),
  };
});

function show() {
  adoptEntry();
  render(
    <ScorelContext value={new FakeScorel()}>
      <AtCurrentEntry>
        <Pages />
      </AtCurrentEntry>
    </ScorelContext>,
  );
}

beforeEach(() => {
  arrival.asked = 0;
  arrival.next = () => Promise.resolve();
});

test("the previous page stays until the next one has loaded, then a frame takes its place", async () => {
  history.replaceState(null, "", "/connection");
  show();
  await screen.findByRole("heading", { name: "Connection" });
  let arrive = () => {};
  arrival.next = () => new Promise((resolve) => (arrive = resolve));
  act(() => navigate("/pair"));
  screen.getByRole("heading", { name: "Connection" });
  await screen.findByTestId("page-frame");
  expect(screen.queryByRole("heading", { name: "Connection" })).toBeNull();
  arrive();
  await screen.findByRole("heading", { name: "Pairing" });
});

test("a page that could not be loaded says so, and is loaded by the next visit", async () => {
  history.replaceState(null, "", "/nothing");
  show();
  await screen.findByText("Page not found");
  arrival.next = () => Promise.reject(new TypeError("Failed to fetch"));
  act(() => navigate("/share"));
  await screen.findByTestId("missing-part");
  act(() => history.back());
  await screen.findByText("Page not found");
  arrival.next = () => Promise.resolve();
  await expect(loadPage("/share")).resolves.toBeUndefined();
});

test("a link's page is loaded when a pointer is on the link, but not that of another site", async () => {
  history.replaceState(null, "", "/nothing");
  loadAhead();
  render(
    <>
      <a href="/d/d1/terminal">
        <b>Terminal</b>
      </a>
      <a href="https://example.org/share">Elsewhere</a>
    </>,
  );
  fireEvent.pointerOver(screen.getByText("Elsewhere"));
  expect(arrival.asked).toBe(0);
  fireEvent.pointerOver(screen.getByText("Terminal"));
  await waitFor(() => expect(arrival.asked).toBe(1));
});
