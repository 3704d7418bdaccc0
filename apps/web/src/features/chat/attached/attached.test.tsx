import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import "../../../app/testing/browser";
import { Composer, type ComposerProps } from "../composer/Composer";
import { Prompt } from "../messages/UserRow";

function show(change: Partial<ComposerProps> = {}) {
  const onSend = vi.fn();
  const props = { draftKey: "d/files", onSend, onCancel: null, cancelling: false, blocked: null, ...change };
  const view = render(<Composer {...props} />);
  const area = screen.getByTestId("composer") as HTMLTextAreaElement;
  return { ...view, props, area, onSend, send: () => fireEvent.keyDown(area, { key: "Enter" }) };
}

const notes = () => new File(["one\ntwo\n"], "notes.txt", { type: "text/plain" });
const whole = "look\n\nAttached file: notes.txt\n```\none\ntwo\n```";

test("a text file is attached by paste, and sent as a part of the text", async () => {
  const { area, onSend, send } = show();
  fireEvent.paste(area, { clipboardData: { files: [notes()] } });
  expect((await screen.findByTestId("attached-files")).textContent).toContain("notes.txt2 lines");
  fireEvent.change(area, { target: { value: "look" } });
  send();
  expect(onSend).toHaveBeenCalledExactlyOnceWith(whole);
  expect(screen.queryByTestId("attached-files")).toBeNull();
});

test("a file goes alone, to a model without images too, and not after it was removed", async () => {
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

test("files come back with the draft, and with a prompt that is edited", async () => {
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

test("too much text is refused with a sentence", async () => {
  show({ draftKey: "d/much" });
  const large = (name: string) => new File([name.repeat(200 << 10)], `${name}.txt`);
  fireEvent.change(screen.getByTestId("attach-input"), { target: { files: ["a", "b", "c"].map(large) } });
  expect((await screen.findByRole("alert")).textContent).toContain("at most 512 KiB");
  expect(screen.getByTestId("attached-files").children).toHaveLength(2);
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
