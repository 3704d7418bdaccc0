import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type Extension, type Grant, type Requests } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { FakeScorel } from "../../app/testing/fake-scorel";
import ExtensionList from "./ExtensionList";

const review: Extension = {
  ...{ name: "review", version: "1", source: "folder", location: "/tools/review", hash: "hash-1", state: "enabled" },
  contents: {
    ...{ files: 2, bytes: 10, skills: [], commands: [{ name: "/review:changes" }], agents: [] },
    hooks: [{ event: "before_tool", matcher: "Bash", command: "rm -rf \u202ex", timeoutSeconds: 5 }],
    servers: [{ name: "review:s", transport: "stdio", shown: "", command: "node", args: ["a b.js"] }],
    problems: ["a link leads out"],
  },
};

function show(extensions: Extension[], grants: Grant[] = ["view", "approve", "manage", "shell"]) {
  const host = new FakeScorel().host("dev_one");
  host.handlers.list_extensions = () => ({ extensions });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ExtensionList host={host} info={hostInfo({ grants })} projectId="p1" />
    </QueryClientProvider>,
  );
  const sent = <K extends keyof Requests>(name: K) =>
    host.requests.filter((each) => each.name === name).map(({ fields }) => fields);
  return { host, sent };
}

test("an extension is used only after everything that it would run was shown", async () => {
  const { host, sent } = show([]);
  host.handlers.fetch_extension = () => ({ extension: { ...review, state: "needs_consent" }, changes: [] });
  host.handlers.save_extension = () => ({ extension: review });
  fireEvent.click(await screen.findByTestId("extension-add"));
  fireEvent.change(screen.getByTestId("extension-source"), { target: { value: " /tools/review " } });
  fireEvent.click(screen.getByTestId("extension-fetch"));
  const shown = (await screen.findByTestId("extension-review")).textContent;
  for (const part of [
    "rm -rf <U+202E>x",
    "before_tool of Bash",
    "node\na b.js",
    "/review:changes",
    "a link leads out",
  ]) {
    expect(shown).toContain(part);
  }
  expect(sent("fetch_extension")).toEqual([{ source: "/tools/review" }]);
  expect(sent("save_extension")).toEqual([]);
  fireEvent.click(screen.getByTestId("extension-use"));
  await screen.findByText(/^Added the extension review/);
  expect(sent("save_extension")).toEqual([{ projectId: "p1", hash: "hash-1" }]);
});

test("an update shows what changed, and replaces exactly the version that was there", async () => {
  const { host, sent } = show([review]);
  host.handlers.fetch_extension = () => ({
    extension: { ...review, hash: "hash-2" },
    replaces: "hash-1",
    changes: [{ change: "added", what: "hook", name: "curl evil" }],
  });
  host.handlers.save_extension = () => Promise.reject(new ApiError(ApiKind.conflict, "it was changed meanwhile"));
  fireEvent.click(await screen.findByTestId("extension-update"));
  expect((await screen.findByTestId("extension-changes")).textContent).toContain("added: hook curl evil");
  fireEvent.click(screen.getByTestId("extension-use"));
  await screen.findByText("It was changed meanwhile");
  expect(sent("save_extension")).toEqual([{ hash: "hash-2", replaces: "hash-1" }]);
});

test("files of a project's extension that changed are shown and decided by their hash", async () => {
  const { host, sent } = show([{ ...review, source: "project", state: "changed", reason: "its files have changed" }]);
  host.handlers.decide_extension = () => ({ extension: review });
  expect((await screen.findByTestId("extension-contents")).textContent).toContain("rm -rf");
  fireEvent.click(screen.getByTestId("extension-allow"));
  await screen.findByText("Allowed the extension review.");
  expect(sent("decide_extension")).toEqual([{ projectId: "p1", name: "review", hash: "hash-1", allow: true }]);
});

test("a browser without shell adds nothing, and one without approve allows nothing", async () => {
  show([{ ...review, source: "project", state: "needs_consent" }], ["view", "manage"]);
  await screen.findByTestId("extension-deny");
  expect(screen.queryByTestId("extension-add")).toBeNull();
  expect(screen.queryByTestId("extension-allow")).toBeNull();
});
