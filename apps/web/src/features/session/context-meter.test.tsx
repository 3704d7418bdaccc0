import "../../app/testing/browser";
import { fireEvent, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "../../api/types";
import { assistant, hostInfo, project, summary, user } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
import { runtimeContext } from "../../app/testing/runtime-context";
import { tokensUsed } from "./ContextMeter";
import "./ContextSheet";

const usage = (totalTokens: number) => ({
  ...{ input: totalTokens, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
});

function path(...entries: object[]): SessionEntry[] {
  return entries.map((entry, i) => ({ ...entry, id: `e${i}`, parentId: i ? `e${i - 1}` : null })) as SessionEntry[];
}

function answer(tokens: number): object {
  const entry = assistant("done");
  return { ...entry, message: { ...entry.message, usage: usage(tokens) } };
}

describe("the context meter", () => {
  it("shows the model's last count on this branch and after the last summary", () => {
    const entries = path(user("a"), answer(900), user("b"));
    expect(tokensUsed(entries)).toBe(900);
    expect(tokensUsed([])).toBe(0);
    const aside = { ...answer(5000), id: "x", parentId: "e0" } as SessionEntry;
    expect(tokensUsed([...entries.slice(0, 2), aside, { ...user("c"), id: "y", parentId: "e1" } as SessionEntry])).toBe(
      900,
    );
    expect(tokensUsed(path(user("a"), answer(900), { type: "compaction" }, user("b")))).toBe(0);
  });

  it("opens the context by use, and its state after a compaction", async () => {
    const scorel = new FakeScorel();
    scorel.devices.set([{ id: "dev_one", label: "workshop", online: true }]);
    const host = scorel.host("dev_one");
    const models = [{ name: "main", provider: "local", id: "m", contextWindow: 128_000 }];
    const session = summary("s1", "p1", "Lamps", { model: "main" });
    host.handlers.get_host = () => ({ host: { ...hostInfo(), models } });
    host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/lamps")] });
    host.handlers.list_sessions = () => ({ sessions: [session] });
    host.handlers.get_snapshot = () =>
      ({ session, runtimeContext: { ...runtimeContext, compactAt: 102_400 } }) as never;
    host.sessions.set("s1", new FakeSession("s1", { summary: session, entries: path(user("a"), answer(32_000)) }));
    renderApp(scorel, "/d/dev_one/s/s1");
    const meter = await screen.findByTestId("context-meter");
    expect(meter.textContent).toBe("25% of context");
    fireEvent.click(meter);
    expect(await screen.findByRole("dialog", { name: "Context usage" })).toBeTruthy();
    await screen.findByText("Older messages are summarized automatically beyond 102.4K tokens.");
    expect(screen.getByText("System prompt (4)")).toBeTruthy();
    expect(screen.getByText("Tools (3)")).toBeTruthy();
  });
});
