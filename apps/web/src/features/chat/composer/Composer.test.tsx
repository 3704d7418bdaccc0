import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { setMedia } from "../../../app/testing/browser";
import { FakeScorel } from "../../../app/testing/fake-scorel";
import { scorelAround } from "../../../app/testing/scorel-around";
import { Composer, type ComposerProps } from "./Composer";

let scorel: FakeScorel;

function show(change: Partial<ComposerProps> = {}) {
  const props: ComposerProps = {
    draftKey: "d/s",
    onSend: vi.fn(),
    onCancel: null,
    cancelling: false,
    blocked: null,
    ...change,
  };
  const view = render(<Composer {...props} />, scorelAround(scorel));
  const area = screen.getByTestId("composer") as HTMLTextAreaElement;
  const type = (text: string) => fireEvent.change(area, { target: { value: text } });
  return { ...view, props, area, type };
}

function gif(name: string, last: number): File {
  return new File([new Uint8Array([...new TextEncoder().encode("GIF89a"), last])], name, { type: "image/gif" });
}

function attach(...files: File[]) {
  fireEvent.change(screen.getByTestId("attach-input"), { target: { files } });
}

beforeEach(() => {
  scorel = new FakeScorel();
  // jsdom cannot decode images.
  vi.stubGlobal("createImageBitmap", async () => ({ width: 4, height: 4, close() {} }));
  URL.createObjectURL = () => "blob:picture";
  URL.revokeObjectURL = () => {};
});

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("Composer", () => {
  it("sends with Enter and is empty again", () => {
    const { area, type, props } = show();
    type("  hello ");
    fireEvent.keyDown(area, { key: "Enter" });
    expect(props.onSend).toHaveBeenCalledExactlyOnceWith("hello");
    expect(area.value).toBe("");
  });

  it("keeps Shift+Enter for a new line", () => {
    const { area, type, props } = show();
    type("hello");
    const event = fireEvent.keyDown(area, { key: "Enter", shiftKey: true });
    expect(event).toBe(true);
    expect(props.onSend).not.toHaveBeenCalled();
  });

  it("takes a photo on a phone while there is room: no text, no turn, and a model that accepts images", async () => {
    expect(show().queryByTestId("camera")).toBeNull();
    cleanup();
    setMedia("(pointer: coarse)", true);
    expect(show({ noImages: "This model accepts no images." }).queryByTestId("camera")).toBeNull();
    cleanup();
    expect(show({ onCancel: () => {} }).queryByTestId("camera")).toBeNull();
    cleanup();
    const { type, props } = show();
    const input = screen.getByTestId("camera-input") as HTMLInputElement;
    expect([input.accept, input.getAttribute("capture")]).toEqual(["image/*", "environment"]);
    fireEvent.change(input, { target: { files: [gif("photo.gif", 1)] } });
    await screen.findByTestId("attached-images");
    type("What is this?");
    expect(screen.queryByTestId("camera")).toBeNull();
    await waitFor(() => {
      fireEvent.click(screen.getByTestId("send"));
      expect(props.onSend).toHaveBeenCalledOnce();
    });
  });

  it("leaves Enter to an input method that composes", () => {
    const { area, type, props } = show();
    type("にほ");
    fireEvent.keyDown(area, { key: "Enter", isComposing: true });
    fireEvent.keyDown(area, { key: "Enter", keyCode: 229 });
    expect(props.onSend).not.toHaveBeenCalled();
  });

  it("makes Enter a new line on touch screens; the button sends", () => {
    setMedia("(pointer: coarse)", true);
    const { area, type, props } = show();
    type("hello");
    expect(fireEvent.keyDown(area, { key: "Enter" })).toBe(true);
    expect(props.onSend).not.toHaveBeenCalled();
    fireEvent.click(screen.getByTestId("send"));
    expect(props.onSend).toHaveBeenCalledExactlyOnceWith("hello");
  });

  it("does not send a blank text", () => {
    const { area, type, props } = show();
    type(" \n ");
    fireEvent.keyDown(area, { key: "Enter" });
    expect(props.onSend).not.toHaveBeenCalled();
    expect((screen.getByTestId("send") as HTMLButtonElement).disabled).toBe(true);
  });

  it("stays enabled while a turn runs, and can stop it", () => {
    const onCancel = vi.fn();
    const { area, type, props } = show({ onCancel });
    type("and then this");
    fireEvent.keyDown(area, { key: "Enter" });
    expect(props.onSend).toHaveBeenCalledExactlyOnceWith("and then this");
    fireEvent.click(screen.getByTestId("cancel-turn"));
    expect(onCancel).toHaveBeenCalledOnce();
  });

  it("offers no second stop while one is pending", () => {
    show({ onCancel: vi.fn(), cancelling: true });
    expect((screen.getByTestId("cancel-turn") as HTMLButtonElement).disabled).toBe(true);
  });

  it("keeps a text that is too long, and says what to do", () => {
    const { area, type, props } = show();
    const long = "ä".repeat(600_000);
    type(long);
    fireEvent.keyDown(area, { key: "Enter" });
    expect(props.onSend).not.toHaveBeenCalled();
    expect(area.value).toBe(long);
    expect(screen.getByRole("alert").textContent).toContain("Put it in a file");
  });

  it("restores the draft of its session, and no other", () => {
    const first = show();
    first.type("half a thought");
    first.unmount();
    const other = show({ draftKey: "d/other" });
    expect(other.area.value).toBe("");
    other.unmount();
    const again = show();
    expect(again.area.value).toBe("half a thought");
    fireEvent.keyDown(again.area, { key: "Enter" });
    again.unmount();
    expect(show().area.value).toBe("");
  });

  it("accepts nothing while it is blocked, and says why", () => {
    const { area } = show({ blocked: "This session is read-only" });
    expect(area.disabled).toBe(true);
    expect(area.placeholder).toBe("This session is read-only");
  });

  it("sends attached images with the text, without the removed ones", async () => {
    const { area, type, props } = show();
    attach(gif("one.gif", 1), gif("two.gif", 2));
    await waitFor(() => expect(screen.getAllByRole("img")).toHaveLength(2));
    fireEvent.click(screen.getByRole("button", { name: "Remove image 1" }));
    type("look");
    fireEvent.keyDown(area, { key: "Enter" });
    const [text, steer, images] = vi.mocked(props.onSend).mock.calls[0] ?? [];
    expect([text, steer, images?.length]).toEqual(["look", false, 1]);
    expect(screen.queryByTestId("attached-images")).toBeNull();
  });

  it("sends images alone, and reports which file is not an image", async () => {
    const { area, props } = show({ maxFile: 0 });
    attach(new File([new Uint8Array([0, 255])], "notes.zip"));
    expect((await screen.findByRole("alert")).textContent).toContain("notes.zip is not a text file");
    attach(gif("one.gif", 1));
    await screen.findByRole("img");
    fireEvent.keyDown(area, { key: "Enter" });
    expect(vi.mocked(props.onSend).mock.calls[0]?.[2]).toHaveLength(1);
  });

  it("offers to send without images to a model that accepts none", async () => {
    const image = { type: "image" as const, data: "", mimeType: "image/gif", sha256: "a".repeat(64) };
    const { area, props, rerender } = show({ noImages: "The model small does not accept images." });
    rerender(<Composer {...props} insert={{ text: "look", images: [image] }} />);
    fireEvent.keyDown(area, { key: "Enter" });
    expect(props.onSend).not.toHaveBeenCalled();
    expect(screen.getByRole("alert").textContent).toContain("does not accept images");
    fireEvent.click(screen.getByTestId("send-without-images"));
    expect(props.onSend).toHaveBeenCalledExactlyOnceWith("look");
    expect(screen.queryByTestId("attached-images")).toBeNull();
  });

  it("restores images on the host with the draft", async () => {
    const image = { type: "image" as const, data: "", mimeType: "image/gif", sha256: "a".repeat(64) };
    const first = show();
    first.rerender(<Composer {...first.props} insert={{ text: "look", images: [image] }} />);
    await screen.findByTestId("attached-images");
    first.unmount();
    const { area } = show();
    expect(area.value).toBe("look");
    expect(screen.getAllByRole("img")).toHaveLength(1);
  });
});
