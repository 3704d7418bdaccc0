import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import "../../../app/testing/browser";
import { FakeScorel } from "../../../app/testing/fake-scorel";
import { scorelAround } from "../../../app/testing/scorel-around";
import { Composer, type ComposerProps } from "../composer/Composer";
import { Prompt } from "../messages/UserRow";
import QueueEditSheet from "../queue/QueueEditSheet";

let scorel: FakeScorel;

beforeEach(() => {
  scorel = new FakeScorel();
});

function show(change: Partial<ComposerProps> = {}) {
  const onSend = vi.fn();
  const props = { draftKey: "d/files", onSend, onCancel: null, cancelling: false, blocked: null, ...change };
  const view = render(<Composer {...props} />, scorelAround(scorel));
  const area = screen.getByTestId("composer") as HTMLTextAreaElement;
  return { ...view, props, area, onSend, send: () => fireEvent.keyDown(area, { key: "Enter" }) };
}

const notes = () => new File(["one\ntwo\n"], "notes.txt", { type: "text/plain" });
const whole = "look\n\nAttached file: notes.txt\n```\none\ntwo\n```";

test("a text file is attached by paste, and sent as part of the text", async () => {
  const { area, onSend, send } = show();
  fireEvent.paste(area, { clipboardData: { types: ["Files"], files: [notes()] } });
  expect((await screen.findByTestId("attached-files")).textContent).toContain("notes.txt2 lines");
  fireEvent.change(area, { target: { value: "look" } });
  send();
  expect(onSend).toHaveBeenCalledExactlyOnceWith(whole);
  expect(screen.queryByTestId("attached-files")).toBeNull();
});

test("the picture that an office program adds to copied text is not attached", () => {
  const { area } = show({ draftKey: "d/office" });
  const files = [new File(["PNG"], "image.png", { type: "image/png" })];
  const pasted = fireEvent.paste(area, { clipboardData: { types: ["text/plain", "text/html", "Files"], files } });
  expect(pasted).toBe(true); // the browser inserts the text
  expect(document.querySelector("[data-unsent]")).toBeNull();
});

test("a file is sent alone, even to a model without images, and not after it was removed", async () => {
  const { onSend, send } = show({ draftKey: "d/alone", noImages: "The model does not accept images." });
  const input = screen.getByTestId("attach-input");
  fireEvent.change(input, { target: { files: [new File(["GIF89a"], "a.gif", { type: "image/gif" }), notes()] } });
  fireEvent.click(await screen.findByRole("button", { name: "Remove notes.txt" }));
  send();
  expect(onSend).not.toHaveBeenCalled();
  fireEvent.change(input, { target: { files: [notes()] } });
  await screen.findByTestId("attached-files");
  send();
  expect(onSend).toHaveBeenCalledExactlyOnceWith("Attached file: notes.txt\n```\none\ntwo\n```");
});

test("a drag over the page shows where files go, and a drop attaches them", async () => {
  show({ draftKey: "d/drop" });
  const dataTransfer = { types: ["Files"], files: [notes()] };
  fireEvent.dragOver(document.body, { dataTransfer: { types: ["text/plain"], files: [] } });
  expect(screen.queryByTestId("drop-target")).toBeNull();
  expect(fireEvent.dragOver(document.body, { dataTransfer })).toBe(false);
  screen.getByTestId("drop-target");
  fireEvent.dragLeave(document.body, { relatedTarget: null });
  expect(screen.queryByTestId("drop-target")).toBeNull();
  fireEvent.dragOver(document.body, { dataTransfer });
  fireEvent.drop(document.body, { dataTransfer });
  expect(screen.queryByTestId("drop-target")).toBeNull();
  await screen.findByTestId("attached-files");
});

test("files are restored with the draft, and with an edited prompt", async () => {
  const first = show({ draftKey: "d/again" });
  first.rerender(<Composer {...first.props} insert={{ text: whole }} />);
  await waitFor(() => expect(first.area.value).toBe("look"));
  first.unmount();
  const { area, onSend, send } = show({ draftKey: "d/again" });
  expect(area.value).toBe("look");
  expect(screen.getByTestId("attached-files").textContent).toContain("notes.txt");
  send();
  expect(onSend).toHaveBeenCalledExactlyOnceWith(whole);
});

test("too much text is rejected with a sentence", async () => {
  show({ draftKey: "d/much" });
  const large = (name: string) => new File([name.repeat(200 << 10)], `${name}.txt`);
  fireEvent.change(screen.getByTestId("attach-input"), { target: { files: ["a", "b", "c"].map(large) } });
  expect((await screen.findByRole("alert")).textContent).toContain("at most 512 KiB");
  expect(screen.getByTestId("attached-files").children).toHaveLength(2);
});

const zip = (size = 300 << 10, name = "build.zip") => new File([new Uint8Array(size).fill(255)], name);

test("a binary file is sent by its bytes, even to a model without images, and restored with the draft", async () => {
  const first = show({ draftKey: "d/zip", noImages: "The model does not accept images." });
  fireEvent.change(screen.getByTestId("attach-input"), { target: { files: [zip()] } });
  expect((await screen.findByTestId("attached-files")).textContent).toContain("build.zip300 KiB");
  first.unmount();
  const { area, onSend, send } = show({ draftKey: "d/zip", noImages: "The model does not accept images." });
  await screen.findByTestId("attached-files");
  expect(screen.queryByTestId("attached-images")).toBeNull();
  fireEvent.change(area, { target: { value: "unpack it" } });
  send();
  expect(onSend).toHaveBeenCalledExactlyOnceWith("unpack it", false, [
    { name: "build.zip", sha256: expect.stringMatching(/^[0-9a-f]{64}$/), blob: expect.any(Blob) },
  ]);
  expect(screen.queryByTestId("attached-files")).toBeNull();
});

test("limits are shown where files are picked, and files beyond them rejected with a sentence", async () => {
  show({ draftKey: "d/limits", maxFile: 1 << 20 });
  expect(screen.getByTestId("attach").getAttribute("aria-label")).toBe("Attach images or files, up to 1 MiB each");
  const input = screen.getByTestId("attach-input");
  fireEvent.change(input, { target: { files: [zip((1 << 20) + 1)] } });
  expect((await screen.findByRole("alert")).textContent).toMatch(/build.zip is larger than 1 MiB/);
  fireEvent.change(input, { target: { files: [...Array(11).keys()].map((i) => zip(i + 1)) } });
  await waitFor(() => expect(screen.getByRole("alert").textContent).toBe("A message can have at most 10 files."));
  expect(screen.getByTestId("attached-files").children).toHaveLength(10);
});

test("a machine that stores no files accepts text files only, and says what to do", async () => {
  show({ draftKey: "d/old", maxFile: 0 });
  expect(screen.getByTestId("attach").getAttribute("aria-label")).toBe("Attach images or text files");
  fireEvent.change(screen.getByTestId("attach-input"), { target: { files: [new File(["a\0b"], "a.bin")] } });
  expect((await screen.findByRole("alert")).textContent).toMatch(/Update scorel on this machine/);
});

test("a queued message is edited beside its files, and keeps those that are not removed", async () => {
  const stored = "Attached file: a.pdf\nPath: /s/attached/0f/a.pdf\nSize: 2097152 bytes";
  const onSave = vi.fn(() => Promise.resolve());
  render(<QueueEditSheet text={`${whole}\n\n${stored}`} images={[]} onSave={onSave} onClose={() => {}} />);
  const text = screen.getByLabelText("Message") as HTMLTextAreaElement;
  expect(text.value).toBe("look");
  expect(screen.getByTestId("attached-files").textContent).toBe("notes.txt2 linesa.pdf2 MiB");
  fireEvent.click(screen.getByRole("button", { name: "Remove notes.txt" }));
  fireEvent.change(text, { target: { value: "look again" } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(onSave).toHaveBeenCalledExactlyOnceWith({ text: `look again\n\n${stored}` }));
});

test("a prompt shows its files folded", () => {
  render(
    <Prompt text={whole} mine clientId={undefined}>
      sent
    </Prompt>,
  );
  expect(screen.getByText("look").textContent).toBe("look");
  expect(screen.getByTestId("sent-file").textContent).toContain("notes.txt2 lines");
});
