import "../../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import { ApiError, OfflineError } from "../../../api/contract";
import { ApiKind, type GitStatusResponse } from "../../../api/types";
import { FakeHost } from "../../../app/testing/fake-scorel";
import { ToastProvider } from "../../../components/Toast";
// Loaded before a test's fake clock runs.
import "../../diff/Diff";
import { emptyDraft } from "./commit-draft";
import { GitPanel, type GitPanelProps } from "./GitPanel";

const first = "a".repeat(40);
const second = "b".repeat(40);
const diff = "--- a/client.go\n+++ b/client.go\n@@ -1 +1 @@\n-old\n+new\n";

function world(status: Partial<GitStatusResponse> = {}) {
  const host = new FakeHost("dev_one");
  host.handlers.git_status = () => ({
    repository: true,
    branch: "main",
    head: first,
    files: [
      { path: "client.go", status: "modified" },
      { path: "new.txt", status: "added", untracked: true },
      { path: ".env", status: "modified" },
    ],
    ...status,
  });
  host.handlers.git_diff = ({ path }) => ({
    files: path
      ? [{ path, status: "modified", diff }]
      : [
          { path: "client.go", status: "modified", added: 1, removed: 1 },
          { path: "new.txt", status: "added", added: 2 },
          { path: ".env", status: "modified", closed: true },
        ],
  });
  return host;
}

function Panel(props: Omit<GitPanelProps, "draft" | "onDraft">) {
  const [draft, setDraft] = useState(emptyDraft);
  return <GitPanel {...props} draft={draft} onDraft={setDraft} />;
}

function show(host: FakeHost, props: Partial<GitPanelProps> = {}) {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ToastProvider>
        <Panel host={host} sessionId="s1" step="" mayWrite onPrompt={null} {...props} />
      </ToastProvider>
    </QueryClientProvider>,
  );
}

const box = (path: string) =>
  screen.findByRole<HTMLInputElement>("checkbox", { name: `Include ${path} in the commit` });
const write = (message: string) =>
  fireEvent.change(screen.getByTestId("commit-message"), { target: { value: message } });
const commits = (host: FakeHost) =>
  host.requests.filter(({ name }) => name === "git_commit").map(({ fields }) => fields);

describe("the repository of a session", () => {
  it("says if there is none", async () => {
    const host = world({ repository: false, files: [] });
    show(host);
    expect(await screen.findByText("This folder is not in a Git repository.")).toBeTruthy();
    expect(screen.queryByTestId("commit-message")).toBeNull();
  });

  it("says that there is nothing to commit", async () => {
    const host = world({ files: [], upstream: "origin/main", ahead: 2 });
    show(host);
    expect(await screen.findByText("Nothing to commit: all files match the current commit.")).toBeTruthy();
    expect(screen.getByText("2 commits ahead · origin/main")).toBeTruthy();
    expect(host.requests.map(({ name }) => name)).toEqual(["git_status"]);
  });

  it("commits the selected files, as they were shown", async () => {
    const host = world();
    host.handlers.git_commit = () => {
      host.handlers.git_status = () => ({
        repository: true,
        branch: "main",
        head: second,
        files: [{ path: ".env", status: "modified" }],
      });
      return { commit: second };
    };
    show(host);
    fireEvent.click(await box("new.txt"));
    expect(screen.getByText("1 of 3 files selected")).toBeTruthy();
    expect((await box(".env")).disabled).toBe(true);
    const button = screen.getByTestId<HTMLButtonElement>("commit");
    expect(button.disabled).toBe(true);
    write("  client: say it anew\n\nWhy.  ");
    fireEvent.click(button);
    const said = await screen.findByTestId("committed");
    expect(said.textContent).toBe("Committed as bbbbbbb.");
    expect(document.activeElement).toBe(said);
    expect(commits(host)).toEqual([
      {
        sessionId: "s1",
        clientKey: expect.stringMatching(/./),
        head: first,
        message: "client: say it anew\n\nWhy.",
        paths: ["client.go"],
      },
    ]);
    await waitFor(() => expect(screen.getByTestId<HTMLTextAreaElement>("commit-message").value).toBe(""));
    await waitFor(() => expect(screen.queryByText("client.go")).toBeNull());
  });

  it("begins with the files in the index, and commits a renamed file under both names", async () => {
    const host = world({
      files: [
        { path: "client.go", status: "modified" },
        { path: "now.go", from: "then.go", status: "renamed", staged: true },
      ],
    });
    host.handlers.git_commit = () => ({ commit: second });
    show(host);
    expect((await box("client.go")).checked).toBe(false);
    write("rename");
    fireEvent.click(screen.getByTestId("commit"));
    await waitFor(() => expect(commits(host)).toMatchObject([{ paths: ["then.go", "now.go"] }]));
  });

  it("repeats a commit whose answer was lost under the same key", async () => {
    const host = world();
    host.handlers.git_commit = () => Promise.reject(new OfflineError("The machine cannot be reached now."));
    show(host);
    await box("client.go");
    write("once");
    fireEvent.click(screen.getByTestId("commit"));
    expect((await screen.findByRole("alert")).textContent).toBe("The machine cannot be reached now.");
    host.handlers.git_commit = () => ({ commit: second });
    fireEvent.click(screen.getByTestId("commit"));
    await screen.findByTestId("committed");
    const [one, other] = commits(host);
    expect(other).toEqual(one);
  });

  it("shows why the machine refused, keeps the message, and reloads after a conflict", async () => {
    const host = world();
    const why = "git does not know your name: set user.name and user.email on the machine with git config --global";
    host.handlers.git_commit = () => Promise.reject(new ApiError(ApiKind.unavailable, why));
    show(host);
    await box("client.go");
    write("refused");
    fireEvent.click(screen.getByTestId("commit"));
    expect((await screen.findByTestId("commit-error")).textContent).toBe(`G${why.slice(1)} Help`);
    expect(screen.getByTestId<HTMLTextAreaElement>("commit-message").value).toBe("refused");
    const looks = () => host.requests.filter(({ name }) => name === "git_status").length;
    expect(looks()).toBe(1);
    host.handlers.git_commit = () => Promise.reject(new ApiError(ApiKind.conflict, "the repository has changed"));
    fireEvent.click(screen.getByTestId("commit"));
    await waitFor(() => expect(looks()).toBe(2));
    expect((await screen.findByTestId("commit-error")).textContent).toBe("The repository has changed Help");
  });

  it("does not commit while git has another operation to finish", async () => {
    show(world({ busy: "merge" }));
    await box("client.go");
    write("in a merge");
    expect(screen.getByText("An unfinished merge blocks commits. Finish it in a terminal.")).toBeTruthy();
    expect(screen.getByTestId<HTMLButtonElement>("commit").disabled).toBe(true);
  });

  it("allows a browser without permission to view only", async () => {
    show(world(), { mayWrite: false });
    fireEvent.click(await screen.findByRole("button", { name: /client.go/ }));
    expect(await screen.findByRole("table", { name: "Changes in client.go" })).toBeTruthy();
    expect(screen.getByText("View only in this browser. Commit on a device that has permission.")).toBeTruthy();
    expect(screen.queryByRole("checkbox")).toBeNull();
    expect(screen.queryByTestId("commit")).toBeNull();
  });

  it("says that the machine cannot be reached, and retries", async () => {
    const host = world();
    const status = host.handlers.git_status;
    host.handlers.git_status = () => Promise.reject(new OfflineError("The machine cannot be reached now."));
    show(host);
    expect((await screen.findByRole("alert")).textContent).toContain("The machine cannot be reached now.");
    if (status) {
      host.handlers.git_status = status;
    }
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect((await screen.findByTestId("branch")).textContent).toBe("main");
  });

  it("adds a comment on a line to the prompt", async () => {
    const onPrompt = vi.fn();
    show(world(), { onPrompt });
    fireEvent.click(await screen.findByRole("button", { name: /client.go/ }));
    const table = await screen.findByRole("table", { name: "Changes in client.go" });
    fireEvent.click(within(table).getByText("new"));
    fireEvent.change(screen.getByTestId("line-comment"), { target: { value: "Why?" } });
    fireEvent.click(screen.getByTestId("add-comment"));
    expect(onPrompt).toHaveBeenCalledWith("`client.go:1`\n```\nnew\n```\nWhy?");
  });

  it("lists commits in pages, each with its files", async () => {
    const host = world({ files: [] });
    const commit = (id: string, subject: string) => ({ id, subject, author: "Ada", at: Date.now() });
    host.handlers.git_log = ({ from = "" }) =>
      from === ""
        ? { commits: [commit(first, "second\u202E change")], next: second }
        : { commits: [{ ...commit(second, "first"), body: "Because." }] };
    show(host);
    fireEvent.click(await screen.findByTestId("part-history"));
    fireEvent.click(await screen.findByTestId("more-commits"));
    await waitFor(() => expect(screen.getAllByTestId("commit-row")).toHaveLength(2));
    expect(screen.getByText("second<U+202E> change")).toBeTruthy();
    expect(screen.queryByTestId("more-commits")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: /^first/ }));
    expect(screen.getByText("Because.")).toBeTruthy();
    fireEvent.click(await screen.findByRole("button", { name: /client.go/ }));
    expect(await screen.findByRole("table", { name: "Changes in client.go" })).toBeTruthy();
    expect(host.requests.filter(({ name }) => name === "git_diff").map(({ fields }) => fields)).toEqual([
      { sessionId: "s1", commit: second },
      { sessionId: "s1", commit: second, path: "client.go" },
    ]);
  });

  it("lists the local branches", async () => {
    const host = world({ files: [], branch: undefined } as never);
    host.handlers.git_branches = () => ({
      branches: [
        { name: "main", head: first, at: Date.now() },
        { name: "fix", head: second, at: Date.now(), current: true },
      ],
    });
    show(host);
    expect((await screen.findByTestId("branch")).textContent).toBe("Detached at aaaaaaa");
    fireEvent.click(screen.getByTestId("part-branches"));
    const rows = await screen.findAllByTestId("branch-row");
    expect(rows.map((row) => row.textContent)).toEqual(["mainnow · aaaaaaa", "fixnow · bbbbbbbCurrent"]);
  });
});
