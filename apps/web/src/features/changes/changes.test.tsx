import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { FakeHost } from "../../app/testing/fake-scorel";
import { ToastProvider } from "../../components/Toast";
import ChangesSheet from "./ChangesSheet";

it("offers the changes of later steps, and shows them when asked", async () => {
  const host = new FakeHost("dev_one");
  const paths = ["client.go"];
  host.handlers.get_changes = () => ({ files: paths.map((path) => ({ path, status: "modified" as const })) });
  const client = new QueryClient();
  const sheet = (step: string) => (
    <QueryClientProvider client={client}>
      <ToastProvider>
        <ChangesSheet
          {...{ host, sessionId: "s1", step, mayWrite: true, onPrompt: null, file: null }}
          onClose={() => {}}
        />
      </ToastProvider>
    </QueryClientProvider>
  );
  const { rerender } = render(sheet("e1"));
  await screen.findByText("client.go");
  expect(screen.queryByTestId("newer-changes")).toBeNull();

  paths.push("server.go");
  rerender(sheet("e2"));
  fireEvent.click(await screen.findByTestId("newer-changes"));
  await screen.findByText("server.go");
  expect(screen.queryByTestId("newer-changes")).toBeNull();
  expect(host.requests.map(({ name }) => name)).toEqual(["get_changes", "get_changes"]);
});

it("keeps a diff while a comment on it is written", async () => {
  const host = new FakeHost("dev_one");
  let diff = "--- a/client.go\n+++ b/client.go\n@@ -1 +1 @@\n-old\n+new\n";
  host.handlers.get_changes = ({ path }) => ({
    files: [{ path: "client.go", status: "modified", ...(path ? { diff } : {}) }],
  });
  const client = new QueryClient();
  const said: string[] = [];
  const sheet = (step: string) => (
    <QueryClientProvider client={client}>
      <ToastProvider>
        <ChangesSheet
          {...{ host, sessionId: "s1", step, mayWrite: true, file: null }}
          onPrompt={(text) => said.push(text)}
          onClose={() => {}}
        />
      </ToastProvider>
    </QueryClientProvider>
  );
  const { rerender } = render(sheet("e1"));
  fireEvent.click(await screen.findByText("client.go"));
  const table = await screen.findByRole("table", { name: "Changes in client.go" });
  fireEvent.click(table.querySelectorAll("[data-choice]")[1] as Element);
  fireEvent.change(await screen.findByTestId("line-comment"), { target: { value: "why?" } });

  diff = "--- a/client.go\n+++ b/client.go\n@@ -9 +9 @@\n-other\n+newer\n";
  rerender(sheet("e2"));
  fireEvent.click(await screen.findByTestId("newer-changes"));
  await waitFor(() => expect(screen.queryByTestId("newer-changes")).toBeNull());
  fireEvent.click(screen.getByTestId("add-comment"));
  expect(said.join()).toContain("why?");
  await screen.findByText("newer");
});
