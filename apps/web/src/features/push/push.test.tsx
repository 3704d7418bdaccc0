import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type HostPush, type HostSubscription } from "../../api/types";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { ScorelContext } from "../shared/scorel-context";
import PushSection from "./PushSection";
import { SessionLevel } from "./SessionLevel";

const web: HostSubscription = { id: "psh_1", clientId: "cli_me", kind: "web", server: "push.test", addedAt: 1 };

function show(push: Partial<HostPush> = {}, session = false, list?: () => Promise<HostPush>) {
  const scorel = new FakeScorel();
  const host = scorel.host("dev_one");
  const state: HostPush = {
    key: "key",
    subscriptions: [web],
    settings: [{ clientId: "cli_me", level: "all" }],
    ...push,
  };
  const set: unknown[] = [];
  host.handlers.list_push = list ?? (() => structuredClone(state));
  host.handlers.set_push = (fields) => {
    set.push(fields);
    return { settings: state.settings[0] as never };
  };
  render(
    <ScorelContext value={scorel}>
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        {session ? <SessionLevel host={host} sessionId="s" /> : <PushSection host={host} machine="desk" />}
      </QueryClientProvider>
    </ScorelContext>,
  );
  return { host, state, set };
}

function allowed() {
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("PushManager", class {});
  vi.stubGlobal("Notification", { permission: "granted", requestPermission: async () => "granted" });
  Object.defineProperty(navigator, "serviceWorker", {
    configurable: true,
    value: { getRegistration: async () => ({ scope: "https://x.test/push/dev_one/", pushManager: manager }) },
  });
}
const manager = { getSubscription: async () => ({ unsubscribe: async () => true }) };

afterEach(() => {
  vi.unstubAllGlobals();
  Reflect.deleteProperty(navigator, "serviceWorker");
});

test.each([
  [false, "granted", "Open this page with https"],
  [true, "denied", "Notifications are blocked"],
])("says why this browser cannot show notifications", async (secure, permission, text) => {
  allowed();
  vi.stubGlobal("isSecureContext", secure);
  vi.stubGlobal("Notification", { permission });
  show({ subscriptions: [] });
  expect((await screen.findByTestId("push-unsupported")).textContent).toContain(text);
  expect(screen.queryByTestId("push-on")).toBeNull();
});

test("a test shows when and how the delivery ended", async () => {
  allowed();
  const { host, state } = show();
  expect((await screen.findByTestId("push-last")).textContent).toContain("No notification has been sent yet");
  host.handlers.test_push = () => {
    state.subscriptions = [{ ...web, lastAt: Date.now() }];
    return { subscription: state.subscriptions[0] as HostSubscription };
  };
  fireEvent.click(screen.getByTestId("push-test"));
  expect(await screen.findByText("Test delivered to the push service.")).toBeTruthy();
  expect(await screen.findByText(/Last notification: delivered/)).toBeTruthy();
  host.handlers.test_push = () => ({ subscription: { ...web, lastAt: Date.now(), lastError: "it answered 500" } });
  fireEvent.click(screen.getByTestId("push-test"));
  expect((await screen.findByRole("alert")).textContent).toContain("it answered 500");
});

test("a session has its own level, or that of the machine", async () => {
  allowed();
  const { set } = show({}, true);
  const select = await screen.findByTestId("session-push");
  fireEvent.change(select, { target: { value: "none" } });
  await vi.waitFor(() => expect(set).toEqual([{ sessionId: "s", level: "none" }]));
  await vi.waitFor(() => expect(select.hasAttribute("disabled")).toBe(false));
  fireEvent.change(select, { target: { value: "needs" } });
  await vi.waitFor(() => expect(set).toHaveLength(2));
});

test("an older machine shows nothing", async () => {
  allowed();
  show({}, false, () => Promise.reject(new ApiError(ApiKind.unknown_request, "unknown request")));
  expect(screen.getByText("Notifications")).toBeTruthy();
  await vi.waitFor(() => expect(screen.queryByText("Notifications")).toBeNull());
});
