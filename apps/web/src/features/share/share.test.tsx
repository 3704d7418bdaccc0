import "../../app/testing/browser";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { pageAt } from "../../app/pages";
import { hostInfo, project, summary } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
import { navigate } from "../route/history";
import { sharedText } from "./SharePage";

const dev = "dev_one";

function world() {
  const scorel = new FakeScorel();
  scorel.devices.set([
    { id: dev, label: "workshop", online: true },
    { id: "dev_gone", label: "attic", online: false, revoked: true },
  ]);
  const host = scorel.host(dev);
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/lamps")] });
  host.handlers.list_sessions = () => ({ sessions: [summary("s1", "p1", "First")] });
  host.handlers.list_clients = () => ({ clients: [] });
  host.sessions.set("s1", new FakeSession("s1", { summary: summary("s1", "p1", "First") }));
  return { scorel, host };
}

const path = "/share?title=A%20page&text=%3Cscript%3Ealert(1)%3C%2Fscript%3E&url=https%3A%2F%2Fexample.org%2Fa";
const want = "A page\n<script>alert(1)</script>\nhttps://example.org/a";
const composer = async () => (await screen.findByTestId("composer")) as HTMLTextAreaElement;

test("what was shared becomes the draft of a session, as text, and is not sent", async () => {
  const { scorel, host } = world();
  renderApp(scorel, path);
  expect((await screen.findByTestId("shared-text")).textContent).toBe(want);
  expect(screen.getAllByTestId("share-device")).toHaveLength(1);
  fireEvent.click(await screen.findByTestId("share-session"));
  await waitFor(() => expect(`${location.pathname}${location.search}`).toBe(`/d/${dev}/s/s1`));
  const box = await composer();
  await waitFor(() => expect(box.value).toBe(want));
  expect(host.session("s1").sent).toEqual([]);
  expect(document.querySelector("script")).toBeNull();
});

test("it is appended to an existing draft", async () => {
  const { scorel } = world();
  renderApp(scorel, `/d/${dev}/new?project=p1`);
  fireEvent.change(await composer(), { target: { value: "before" } });
  act(() => navigate("/share?text=shared"));
  fireEvent.click(await screen.findByTestId("share-new"));
  await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/new`));
  const box = await composer();
  await waitFor(() => expect(box.value).toBe("before\nshared"));
});

test("without a text it opens a new session", async () => {
  const { scorel } = world();
  renderApp(scorel, "/share");
  fireEvent.click(await screen.findByTestId("share-new"));
  await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/new`));
  expect(screen.queryByTestId("shared-text")).toBeNull();
});

test.each([
  [{ title: "Page", text: "Page https://a.example", url: "https://a.example" }, "Page https://a.example"],
  [{ text: " a ", url: "" }, "a"],
  [{ title: "same", text: "same" }, "same"],
  [{}, ""],
])("%o is the text %j", (given, text) => {
  expect(sharedText(given)).toBe(text);
});

test("the manifest's icons exist in the named size, and its addresses are pages", () => {
  const folder = join(import.meta.dirname, "../../../public");
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.webmanifest"), "utf8"));
  for (const { src, sizes, type } of manifest.icons) {
    const file = readFileSync(join(folder, src));
    if (type === "image/png") {
      expect(`${file.readUInt32BE(16)}x${file.readUInt32BE(20)}`).toBe(sizes);
    }
  }
  expect(manifest.icons.map(({ purpose }: { purpose?: string }) => purpose)).toContain("maskable");
  const paths = [manifest.share_target.action, ...manifest.shortcuts.map(({ url }: { url: string }) => url)];
  for (const each of paths) {
    expect(pageAt(each).path).toBe(each);
  }
});
