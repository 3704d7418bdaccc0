import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { TranscriptList } from "./TranscriptList";

function show() {
  const host = new FakeScorel().host("dev_one");
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TranscriptList host={host} projectId="p1" />
    </QueryClientProvider>,
  );
  return host;
}

const choose = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });

test("lists conversations of the chosen agent and imports one into the project", async () => {
  const host = show();
  let sessionId = "";
  host.handlers.list_transcripts = ({ from }) => ({
    transcripts: [
      {
        from,
        id: "t1",
        title: "Fix the build",
        folder: "/site",
        updatedAt: Date.now(),
        ...(sessionId ? { sessionId } : {}),
      },
    ],
    total: 3,
    damaged: 1,
  });
  host.handlers.import_transcript = ({ from, id, projectId }) => {
    expect({ from, id, projectId }).toEqual({ from: "codex", id: "t1", projectId: "p1" });
    sessionId = "codex-1";
    return { session: { id: sessionId } as never, outcome: "imported" as never, added: 12, damaged: 2 };
  };
  expect(host.requests).toEqual([]); // nothing is read before an agent is chosen
  choose("Agent", "codex");
  fireEvent.click(await screen.findByRole("button", { name: "Import Fix the build" }));
  await screen.findByText("Imported 12 entries. Skipped 2 damaged records.");
  expect((await screen.findByText("Open session")).getAttribute("href")).toBe("/d/dev_one/s/codex-1");
  screen.getByText("2 older conversations are not shown.");
  screen.getByText("1 file could not be read.");
  choose("Folders", "all");
  await screen.findByTestId("transcript");
  expect(host.requests.filter(({ name }) => name === "list_transcripts").map(({ fields }) => fields)).toEqual([
    { from: "codex", projectId: "p1" },
    { from: "codex", projectId: "p1" },
    { from: "codex" },
  ]);
});

test("says why nothing can be imported", async () => {
  const host = show();
  host.handlers.list_transcripts = ({ from }) => {
    if (from === "claude") {
      throw new ApiError(ApiKind.unknown_request, "unknown request");
    }
    return { transcripts: [], total: 0 };
  };
  choose("Agent", "claude");
  await screen.findByText(/too old to import/);
  choose("Agent", "gemini");
  await screen.findByText("No conversations found.");
});
