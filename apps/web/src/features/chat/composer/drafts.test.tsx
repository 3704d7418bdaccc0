import "fake-indexeddb/auto";
import "../../../app/testing/browser";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, onTestFinished, test, vi } from "vitest";
import { Drafts } from "../../../api/drafts";
import { FakeScorel } from "../../../app/testing/fake-scorel";
import { scorelAround } from "../../../app/testing/scorel-around";
import { Composer, type ComposerProps } from "./Composer";

function show(props: Partial<ComposerProps> & { draftKey: string }) {
  const scorel = new FakeScorel();
  onTestFinished(scorel.drafts.current.listenToWindow());
  const composer = <Composer onSend={() => {}} onCancel={null} cancelling={false} blocked={null} {...props} />;
  return render(composer, scorelAround(scorel));
}

const area = () => screen.getByTestId("composer") as HTMLTextAreaElement;
const type = (value: string) => fireEvent.change(area(), { target: { value } });
const kept = async (key: string) => (await new Drafts().read(key)).text;

test("a draft of another tab, or from before a restart, is in the box", async () => {
  const tab = new Drafts();
  tab.keep("d/restart", { text: "half a thought", images: [] });
  await tab.flush();
  show({ draftKey: "d/restart" });
  await waitFor(() => expect(area().value).toBe("half a thought"));
});

test("text typed before the draft is loaded follows it", async () => {
  const tab = new Drafts();
  tab.keep("d/quick", { text: "first", images: [] });
  await tab.flush();
  show({ draftKey: "d/quick" });
  type("second");
  await waitFor(() => expect(area().value).toBe("first\nsecond"));
  await waitFor(async () => expect(await kept("d/quick")).toBe("first\nsecond"));
});

test("a draft that the previous version stored for the tab is adopted", async () => {
  sessionStorage.setItem("draft:d/old", "older words");
  show({ draftKey: "d/old" });
  await waitFor(() => expect(area().value).toBe("older words"));
  await waitFor(async () => expect(await kept("d/old")).toBe("older words"));
  expect(sessionStorage.getItem("draft:d/old")).toBeNull();
});

test("a draft is deleted when the message is stored, and not before", async () => {
  let stored = () => {};
  const onSend = () =>
    new Promise<void>((resolve) => {
      stored = resolve;
    });
  show({ draftKey: "d/sent", onSend });
  type("send me");
  await waitFor(async () => expect(await kept("d/sent")).toBe("send me"));
  fireEvent.keyDown(area(), { key: "Enter" });
  expect(area().value).toBe("");
  fireEvent(window, new Event("pagehide"));
  expect(await kept("d/sent")).toBe("send me");
  stored();
  await waitFor(async () => expect(await kept("d/sent")).toBe(""));
});

test("the last words of another window reach the box of the one that already has the focus", async () => {
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  const tab = new Drafts();
  const keepThere = async (text: string) => {
    tab.keep("d/windows", { text, images: [] });
    await tab.flush();
  };
  await keepThere("half a");
  show({ draftKey: "d/windows" });
  await waitFor(() => expect(area().value).toBe("half a"));
  fireEvent.input(area(), { target: { value: "half a word" } });
  await waitFor(async () => expect(await kept("d/windows")).toBe("half a word"));
  fireEvent(window, new Event("focus"));
  await keepThere("half a thought");
  await waitFor(() => expect(area().value).toBe("half a thought"));
  fireEvent.input(area(), { target: { value: "half a thought, mine" } });
  await waitFor(async () => expect(await kept("d/windows")).toBe("half a thought, mine"));
  tab.close();
});
