import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeAll, describe, expect, it } from "vitest";
import { emptyLive } from "../api/projection";
import { lateCards } from "../features/chat/approvals/late-cards";
import { lateReader } from "../features/chat/text/late-reader";
import { approval, assistant, user } from "./testing/builders";
import { FakeSession } from "./testing/fake-scorel";
import { chat, dev, world } from "./testing/one-device";
import { renderApp } from "./testing/render-app";

beforeAll(async () => {
  await lateReader.load();
  await lateCards.load();
});

describe("a session", () => {
  it("sends a prompt and shows its delivery state", async () => {
    const session = new FakeSession("s1");
    chat(session);
    const area = await screen.findByTestId("composer");
    fireEvent.change(area, { target: { value: "Hello" } });
    fireEvent.click(screen.getByTestId("send"));
    expect(session.sent).toEqual(["Hello"]);
    expect(screen.getByTestId("message-state").dataset.state).toBe("device");
    const [prompt] = session.state.get().outgoing;
    if (!prompt) {
      throw new Error("nothing was sent");
    }
    act(() => session.patch({ outgoing: [{ ...prompt, state: "host" }] }));
    expect(screen.getByTestId("message-state").textContent).toBe("Queued");
    act(() => session.patch({ outgoing: [], entries: [user("Hello", { clientKey: prompt.clientKey })] }));
    expect(screen.getAllByTestId("message-user")).toHaveLength(1);
    expect(screen.getByTestId("message-state").dataset.state).toBe("taken");
  });

  it("lets a rejected prompt be retried or discarded", async () => {
    const failed = {
      clientKey: "k",
      text: "Hi",
      state: "failed",
      error: "Too many wait.",
      mine: true,
      createdAt: 0,
    } as const;
    const session = new FakeSession("s1", { outgoing: [failed] });
    chat(session);
    fireEvent.click(await screen.findByRole("button", { name: "Try again" }));
    expect(session.retried).toEqual(["k"]);
    fireEvent.click(screen.getByRole("button", { name: "Discard" }));
    expect(screen.queryByTestId("message-user")).toBeNull();
  });

  it("streams, asks, and stops", async () => {
    const turn = { turnId: "t", clientKey: "k", startedAt: 0 };
    const session = new FakeSession("s1", { entries: [user("Go")], live: { ...emptyLive(), turn } });
    chat(session);
    await screen.findByText("Working");
    act(() => session.patchLive({ partial: [{ type: "text", text: "I am on **it**" }] }));
    expect(screen.getByTestId("message-assistant").querySelector("strong")?.textContent).toBe("it");
    act(() => session.patchLive({ approvals: [approval(), approval({ id: "a2", title: "Write a file" })] }));
    expect(screen.getAllByTestId("approval-card")).toHaveLength(2);
    fireEvent.click(screen.getAllByTestId("approval-deny")[1] as HTMLElement);
    await waitFor(() => expect(session.answers).toEqual([{ approvalId: "a2", decision: "deny" }]));
    fireEvent.click(screen.getByTestId("cancel-turn"));
    expect(session.canceled).toBe(1);
  });

  it("shows that the model is called again, why and when", async () => {
    const live = { ...emptyLive(), turn: { turnId: "t", clientKey: "k", startedAt: 0 } };
    const session = new FakeSession("s1", { entries: [user("Go")], live });
    chat(session);
    await screen.findByText("Working");
    const retry = { reason: "Claude is overloaded (HTTP 529).", attempt: 2, attempts: 4, delayMs: 4000 };
    act(() => session.patchLive({ retry }));
    expect(screen.getByTestId("model-retry").textContent).toBe(
      "Claude is overloaded (HTTP 529). Trying again in 4 s (attempt 2 of 4)",
    );
    expect(screen.queryByText("Working")).toBeNull();
    act(() => session.patchLive({ retry: { ...retry, attempt: 3, delayMs: 0 } }));
    expect(await screen.findByText(/Trying again now \(attempt 3 of 4\)/)).toBeTruthy();
    const { retry: _, ...answering } = session.state.get().live;
    act(() => session.patch({ live: { ...answering, partial: [{ type: "text", text: "Here" }] } }));
    expect(screen.queryByTestId("model-retry")).toBeNull();
  });

  it("labels the demo model", async () => {
    chat(new FakeSession("s1", { entries: [user("Hi"), assistant("Hello", { provider: "demo", model: "demo" })] }));
    const message = await screen.findByTestId("message-assistant");
    expect(message.textContent).toContain("demo model, not an AI");
  });

  it("shows the failure of a turn once", async () => {
    const failed = assistant("", { stopReason: "error", errorMessage: "The server refused." });
    chat(new FakeSession("s1", { entries: [user("Hi"), failed], lastError: "The server refused." }));
    await screen.findByTestId("message-assistant");
    expect(screen.getAllByTestId("turn-error")).toHaveLength(1);
  });

  it("is closed when this browser was removed", async () => {
    const session = new FakeSession("s1");
    chat(session);
    await screen.findByTestId("composer");
    act(() => session.patch({ status: "revoked" }));
    expect(screen.getByTestId("revoked-notice").textContent).toContain("removed on workshop");
    expect(screen.queryByTestId("composer")).toBeNull();
  });

  it.each([
    ["reconnecting", "Reconnecting to workshop"],
    ["offline", "workshop is offline"],
  ] as const)("stays usable while %s", async (status, text) => {
    const session = new FakeSession("s1", { status });
    chat(session);
    expect((await screen.findByTestId("session-strip")).textContent).toContain(text);
    fireEvent.change(screen.getByTestId("composer"), { target: { value: "later" } });
    fireEvent.click(screen.getByTestId("send"));
    expect(session.sent).toEqual(["later"]);
  });

  it("is shown as missing", async () => {
    chat(new FakeSession("s1", { status: "missing" }));
    expect(await screen.findByText("Session not found")).toBeTruthy();
  });

  it("shows the end of a long log at first", async () => {
    const entries = Array.from({ length: 500 }, (_, i) => ({
      ...user(`prompt ${i}`),
      id: `n${i}`,
      parentId: i ? `n${i - 1}` : null,
    }));
    chat(new FakeSession("s1", { entries }));
    await screen.findByText("prompt 499");
    expect(screen.getAllByTestId("message-user").length).toBeLessThan(200);
  });

  it("is released when the page is left", async () => {
    const session = new FakeSession("s1");
    const { scorel, host } = world();
    host.sessions.set("s1", session);
    const { unmount } = renderApp(scorel, `/d/${dev}/s/s1`);
    await screen.findByTestId("composer");
    expect(session.held).toBe(1);
    unmount();
    expect(session.held).toBe(0);
  });
});
