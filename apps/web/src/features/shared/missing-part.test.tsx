import "../../app/testing/browser";
import { render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PageFault } from "../../app/PageFault";
import { MissingPart } from "./MissingPart";
import { chunk, MissingChunk } from "./missing-chunk";

const html = (script: string) => `<!doctype html><script type="module" crossorigin src="${script}"></script>`;
let served = "";

beforeEach(() => {
  const running = document.createElement("script");
  running.type = "module";
  running.setAttribute("src", "/assets/index-old.js");
  document.head.append(running);
  served = html("/assets/index-new.js");
  vi.stubGlobal("fetch", async () => new Response(served));
});

afterEach(() => {
  document.head.replaceChildren();
  vi.unstubAllGlobals();
});

async function shown(state: string) {
  await waitFor(() => expect(screen.getByTestId("missing-part").dataset.why).toBe(state));
  return screen.getByTestId("missing-part");
}

test("after an update the page reports it and reloads once, never again for the same version", async () => {
  const reload = vi.fn();
  const first = render(<MissingPart reload={reload} />);
  expect((await shown("reloading")).textContent).toContain("scorel was updated");
  expect(reload).toHaveBeenCalledTimes(1);
  first.unmount();
  render(<MissingPart reload={reload} />);
  expect((await shown("updated")).textContent).toContain("Reload the page to use the new version.");
  expect(reload).toHaveBeenCalledTimes(1);
  screen.getByRole("button", { name: "Reload" }).click();
  expect(reload).toHaveBeenCalledTimes(2);
});

test("unsent text keeps the page from reloading by itself", async () => {
  const reload = vi.fn();
  render(
    <>
      <textarea defaultValue="half a thought" />
      <MissingPart reload={reload} />
    </>,
  );
  await shown("updated");
  expect(reload).not.toHaveBeenCalled();
});

test.each([
  ["unreachable", () => Promise.reject(new TypeError("Failed to fetch")), "The relay cannot be reached."],
  ["unknown", async () => new Response(html("/assets/index-old.js")), "Reload the page to try again."],
  ["unknown", async () => new Response("down", { status: 502 }), "Reload the page to try again."],
])("a part that is missing for another reason reloads nothing: %s", async (why, answer, text) => {
  vi.stubGlobal("fetch", answer);
  const reload = vi.fn();
  render(<MissingPart reload={reload} />);
  expect((await shown(why)).textContent).toContain(text);
  expect(reload).not.toHaveBeenCalled();
});

test("a page whose code is missing shows no raw error", async () => {
  const raw = "Failed to fetch dynamically imported module: https://relay.example/assets/ChatPage-abc.js";
  const load = chunk(() => Promise.reject(new TypeError(raw)));
  const error = await load().catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(MissingChunk);
  served = html("/assets/index-old.js");
  render(<PageFault error={error} resetErrorBoundary={() => {}} />);
  expect((await shown("unknown")).textContent).not.toContain("dynamically");
});
