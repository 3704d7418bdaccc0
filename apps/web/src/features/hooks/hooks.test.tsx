import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type Grant, type Hook } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { FakeScorel } from "../../app/testing/fake-scorel";
import HookList from "./HookList";

const guard: Hook = {
  ...{ id: "h1", event: "before_tool", declared: "before_tool", source: ".scorel/hooks.toml", command: "./check.sh" },
  ...{ timeoutSeconds: 1, sandbox: "none", hash: "hash-1", state: "needs_consent", files: ["check\u202ehs.sh"] },
};

function show(hooks: Hook[], grants: Grant[] = ["view", "approve", "manage"]) {
  const host = new FakeScorel().host("dev_one");
  host.handlers.list_hooks = () => ({ hooks, problems: ["a fault in the file"] });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <HookList host={host} info={hostInfo({ grants })} projectId="p1" />
    </QueryClientProvider>,
  );
  return host;
}

test("a hook is allowed as it was shown, with everything that it runs", async () => {
  const host = show([{ ...guard, id: "h0", state: "ready" }, guard]);
  const [first] = await screen.findAllByTestId("hook");
  expect(first?.dataset.state).toBe("needs_consent");
  expect(first?.textContent).toContain("./check.sh");
  expect(first?.textContent).toContain("check<U+202E>hs.sh");
  expect(first?.textContent).toContain("1 second");
  screen.getByText("a fault in the file");
  host.handlers.decide_hook = () => Promise.reject(new ApiError(ApiKind.conflict, "the hook has changed"));
  fireEvent.click(screen.getByTestId("hook-allow"));
  await screen.findByText("The hook has changed");
  expect(host.requests.at(-2)).toEqual({
    name: "decide_hook",
    fields: { projectId: "p1", id: "h1", hash: "hash-1", allow: true },
  });
});

test("a hook is tested, and its result is shown", async () => {
  const host = show([{ ...guard, state: "ready" }]);
  host.handlers.test_hook = () => ({
    run: { at: 1, durationMs: 12, outcome: "denied", text: "Push by hand." },
    input: '{"hook_event_name":"before_tool"}',
  });
  fireEvent.click(await screen.findByTestId("hook-test"));
  expect((await screen.findByTestId("hook-tested")).textContent).toBe("Test: denied: Push by hand. (12 ms)");
});

test("a browser without approve can only deny", async () => {
  show([guard], ["view", "manage"]);
  await screen.findByTestId("hook-deny");
  expect(screen.queryByTestId("hook-allow")).toBeNull();
  expect(screen.queryByTestId("hook-test")).toBeNull();
});
