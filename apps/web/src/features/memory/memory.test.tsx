import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type MemoryNote } from "../../api/types";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { applyHostEvent } from "../shared/host-queries";
import { MemoryList } from "./MemoryList";

// As in Chromium, where it returns a promise.
Element.prototype.scrollIntoView = () => Promise.resolve() as never;

/** Shows a machine with one note, which rejects changes of another version as real ones do. */
function show({ mayManage = true } = {}) {
  const host = new FakeScorel().host("dev_one");
  const files = new Map([["project build", { text: "make\n", version: 1 }]]);
  const noteOf = (key: string): MemoryNote => {
    const [scope, name] = key.split(" ") as [MemoryNote["scope"], string];
    const { text, version } = files.get(key) ?? { text: "", version: 0 };
    return { name, scope, title: text.trim(), path: `/memory/${name}.md`, version: `${version}`, modifiedAt: 0 };
  };
  const found = (key: string, version?: string) => {
    const file = files.get(key);
    if (version !== undefined && (file ? `${file.version}` : "") !== version) {
      throw new ApiError(ApiKind.conflict, "the note was changed in the meantime");
    }
    return file;
  };
  host.handlers.list_memory = () => ({ notes: [...files.keys()].map(noteOf) });
  host.handlers.get_memory_note = ({ scope, name }) => {
    const file = found(`${scope} ${name}`);
    if (!file) {
      throw new ApiError(ApiKind.not_found, "there is no note");
    }
    return { note: noteOf(`${scope} ${name}`), text: file.text };
  };
  host.handlers.save_memory_note = ({ scope, name, version = "", text }) => {
    const before = found(`${scope} ${name}`, version);
    files.set(`${scope} ${name}`, { text, version: (before?.version ?? 0) + 1 });
    return { note: noteOf(`${scope} ${name}`), text };
  };
  host.handlers.delete_memory_note = ({ scope, name, version }) => {
    found(`${scope} ${name}`, version);
    files.delete(`${scope} ${name}`);
    return {};
  };
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const { container } = render(
    <QueryClientProvider client={client}>
      <MemoryList host={host} projectId="p1" mayManage={mayManage} />
    </QueryClientProvider>,
  );
  return { host, client, files, container, text: () => [...files].map(([key, { text }]) => `${key}: ${text}`) };
}

const write = (testId: string, value: string) => fireEvent.change(screen.getByTestId(testId), { target: { value } });

async function edit() {
  fireEvent.click(await screen.findByTestId("note-edit"));
  return (await screen.findByTestId("note-text")) as HTMLTextAreaElement;
}

test("shows a note, and changes it", async () => {
  const { text } = show();
  fireEvent.click(await screen.findByTestId("note-show"));
  expect((await screen.findByTestId("note-content")).textContent).toBe("make\n");
  const field = await edit();
  expect(field.value).toBe("make\n");
  expect(document.activeElement).toBe(field);
  write("note-text", "make all");
  fireEvent.click(screen.getByTestId("note-save"));
  await screen.findByText("Saved the note build.");
  expect(text()).toEqual(["project build: make all"]);
  // The form is gone, and so is the focus, unless something took it.
  expect(document.activeElement).not.toBe(document.body);
});

test("a note that was changed meanwhile is shown, and replaced only on request", async () => {
  const { files, text } = show();
  await edit();
  files.set("project build", { text: "ninja\n", version: 2 });
  write("note-text", "make all");
  fireEvent.click(screen.getByTestId("note-save"));
  expect((await screen.findByTestId("note-conflict")).textContent).toContain("ninja");
  expect(text()).toEqual(["project build: ninja\n"]);
  // Changed once more before the answer: it is shown again.
  files.set("project build", { text: "bazel\n", version: 3 });
  fireEvent.click(screen.getByText("Replace with my text"));
  await waitFor(() => expect(screen.getByTestId("note-conflict").textContent).toContain("bazel"));
  fireEvent.click(screen.getByText("Replace with my text"));
  await waitFor(() => expect(text()).toEqual(["project build: make all"]));
});

test("the other version's text can be edited instead", async () => {
  const { files, text } = show();
  await edit();
  files.set("project build", { text: "ninja\n", version: 2 });
  write("note-text", "make all");
  fireEvent.click(screen.getByTestId("note-save"));
  fireEvent.click(await screen.findByTestId("note-take"));
  expect((screen.getByTestId("note-text") as HTMLTextAreaElement).value).toBe("ninja\n");
  expect(document.activeElement).toBe(screen.getByTestId("note-text"));
  write("note-text", "ninja all");
  fireEvent.click(screen.getByTestId("note-save"));
  await waitFor(() => expect(text()).toEqual(["project build: ninja all"]));
});

test("a deleted note is created again only on request", async () => {
  const { files, text } = show();
  await edit();
  files.clear();
  write("note-text", "make all");
  fireEvent.click(screen.getByTestId("note-save"));
  expect((await screen.findByTestId("note-conflict")).textContent).toContain("was deleted");
  expect(text()).toEqual([]);
  fireEvent.click(screen.getByTestId("note-save"));
  await waitFor(() => expect(text()).toEqual(["project build: make all"]));
});

test("a note that is deleted while it is edited keeps its form", async () => {
  const { client, files, text } = show();
  await edit();
  write("note-text", "make all");
  files.clear();
  files.set("user taste", { text: "Likes tabs.", version: 1 });
  applyHostEvent(client, "dev_one", { type: "memory_changed" });
  await screen.findByText("taste");
  expect((screen.getByTestId("note-text") as HTMLTextAreaElement).value).toBe("make all");
  expect(document.activeElement).toBe(screen.getByTestId("note-text"));
  fireEvent.click(screen.getByTestId("note-save"));
  expect((await screen.findByTestId("note-conflict")).textContent).toContain("was deleted");
  fireEvent.click(screen.getByTestId("note-save"));
  await waitFor(() => expect(text()).toEqual(["user taste: Likes tabs.", "project build: make all"]));
});

test("creates a note for all projects, and deletes one after a confirmation", async () => {
  const { text } = show();
  fireEvent.click(await screen.findByTestId("new-note"));
  write("note-name", "taste");
  fireEvent.change(screen.getByLabelText("Applies to"), { target: { value: "user" } });
  write("note-text", "Likes tabs.");
  fireEvent.click(screen.getByTestId("note-save"));
  await waitFor(() => expect(text()).toEqual(["project build: make\n", "user taste: Likes tabs."]));
  await screen.findByText("all projects");
  fireEvent.click(screen.getAllByTestId("note-edit")[0] as HTMLElement);
  fireEvent.click(await screen.findByTestId("note-delete"));
  expect(text()).toHaveLength(2);
  fireEvent.click(screen.getAllByRole("button", { name: "Delete", hidden: true }).at(-1) as HTMLElement);
  await screen.findByText("Deleted the note build.");
  expect(text()).toEqual(["user taste: Likes tabs."]);
});

test("follows the machine, and offers no change to a browser that may only view", async () => {
  const { client, files } = show({ mayManage: false });
  await screen.findByTestId("note");
  files.set("user taste", { text: "Likes tabs.", version: 1 });
  applyHostEvent(client, "dev_one", { type: "memory_changed" });
  await waitFor(() => expect(screen.getAllByTestId("note")).toHaveLength(2));
  expect(screen.queryByTestId("note-edit")).toBeNull();
  expect(screen.queryByTestId("new-note")).toBeNull();
});

test("shows no notes on an older machine", async () => {
  const { host, client, container } = show();
  host.handlers.list_memory = () => {
    throw new ApiError(ApiKind.unknown_request, "unknown request list_memory");
  };
  await client.resetQueries();
  await waitFor(() => expect(container.textContent).toBe(""));
});
