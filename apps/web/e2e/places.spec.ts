import { expect, test } from "./harness";
import { lengthenSession } from "./log";
import type { Visitor } from "./visitor";

// Without touch: Chromium loses an emulated touch screen while it leaves a page, and with it the height of rows.
const phone = { viewport: { width: 390, height: 844 } };
const texts = Array.from({ length: 400 }, (_, i) => `line ${i}`);

/** Returns how far below the top of the transcript a text is, in whole pixels. */
function offsetOf(anna: Visitor, text: string): Promise<number> {
  return anna.box.evaluate((box, sought) => {
    const rows = [...box.querySelectorAll("[data-row]")];
    const row = rows.find((each) => each.querySelector("p")?.textContent === sought);
    return row ? Math.round(row.getBoundingClientRect().top - box.getBoundingClientRect().top) : Number.NaN;
  }, text);
}

test("a reader who returns finds the same position, in lists and in a transcript", async ({ world, visitor }) => {
  const sent = await world.scorel(["send", "--project", world.project, "stream 3"]);
  expect(sent, sent.stderr).toMatchObject({ code: 0 });
  await world.killHost();
  lengthenSession(world.scorelHome, texts);
  await world.startHost();
  const anna = await visitor(phone);
  await anna.pair();
  await anna.at("session-row").click();
  await expect(anna.page.getByText("line 399", { exact: true })).toBeInViewport();

  await test.step("at the end", async () => {
    await anna.page.getByRole("link", { name: "Back" }).click();
    await expect(anna.at("session-row")).toBeVisible();
    await anna.page.goForward();
    await expect(anna.page.getByText("line 399", { exact: true })).toBeInViewport();
  });

  await test.step("in the middle", async () => {
    await expect(async () => {
      await anna.box.evaluate((box) => box.scrollBy(0, -1500));
      await expect(anna.page.getByText("line 350", { exact: true })).toBeVisible({ timeout: 500 });
    }).toPass();
    await anna.page.getByText("line 350", { exact: true }).evaluate((line) => line.scrollIntoView());
    await expect(anna.at("to-latest")).toBeVisible();
    const before = await offsetOf(anna, "line 350");
    await anna.page.getByRole("link", { name: "Back" }).click();
    await expect(anna.at("session-row")).toBeVisible();
    await anna.page.goForward();
    await expect.poll(async () => Math.abs((await offsetOf(anna, "line 350")) - before)).toBeLessThan(4);
    await anna.page.reload();
    await expect.poll(async () => Math.abs((await offsetOf(anna, "line 350")) - before)).toBeLessThan(4);
  });

  await test.step("while the machine is away", async () => {
    const before = await offsetOf(anna, "line 350");
    await world.killHost();
    await expect(anna.at("session-strip")).toBeVisible();
    await expect(anna.at("place-menu")).toHaveCount(0);
    await expect.poll(() => offsetOf(anna, "line 350")).toBe(before);
    await world.startHost();
    await expect(anna.at("place-menu").first()).toBeAttached();
    await expect.poll(() => offsetOf(anna, "line 350")).toBe(before);
    await anna.at("to-latest").click();
  });

  await test.step("the branches open where the session is", async () => {
    await anna.at("open-tree").click();
    await expect(anna.at("tree-node").filter({ hasText: "line 399" })).toBeInViewport();
    await expect(anna.at("tree-node").filter({ hasText: "line 399" })).toBeFocused();
  });
});

test("a session's frame is visible before its code is loaded", async ({ visitor }) => {
  // A service worker would have the code.
  const anna = await visitor({ serviceWorkers: "block" });
  await anna.settle();
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await anna.page.route(/assets\/session-.*\.js/, async (route) => {
    await held;
    await route.continue();
  });
  await anna.page.reload();
  await expect(anna.at("page-frame").getByRole("heading", { level: 1 })).toHaveText("Session");
  await expect(anna.at("page-frame").getByRole("status", { name: "Loading…" })).toBeVisible();
  release();
  await expect(anna.at("composer")).toBeEnabled();
  await expect(anna.at("page-frame")).toHaveCount(0);
});

test("a page that is older than its server reports it and reloads once by itself", async ({ visitor }) => {
  const anna = await visitor({ serviceWorkers: "block" });
  await anna.settle();
  const device = anna.sessionPath.split("/s/")[0] ?? "/";
  await anna.open(device);
  await expect(anna.at("session-row")).toBeVisible();
  let missing = true;
  let mends = true;
  let loads = 0;
  // The page's code is gone, and the server begins with another script, as after an update.
  await anna.page.route(/assets\/StartPage-.*\.js/, (route) =>
    missing ? route.fulfill({ status: 404, body: "" }) : route.continue(),
  );
  await anna.page.route(/\/(d\/.*)?$/, async (route) => {
    const answer = await route.fetch();
    const html = await answer.text();
    if (route.request().isNavigationRequest()) {
      loads++;
      missing &&= !mends;
      return route.fulfill({ response: answer });
    }
    return route.fulfill({ response: answer, body: html.replace(/assets\/boot-[^"]*\.js/, "assets/boot-newer.js") });
  });

  await test.step("the new version has the code", async () => {
    await anna.at("new-session").click();
    await expect(anna.at("composer")).toBeEnabled();
    expect(loads).toBe(1);
  });

  await test.step("it does not reload for ever", async () => {
    missing = true;
    mends = false;
    await anna.open(device);
    await anna.at("new-session").click();
    await expect(anna.at("missing-part")).toHaveAttribute("data-why", "updated");
    await expect(anna.page.getByRole("button", { name: "Reload" })).toBeVisible();
    expect(loads).toBe(2);
  });
  anna.forgive(/404|Failed to load|dynamically imported|missing-chunk/);
});
