import { expect, test } from "./harness";
import { appendMessages } from "./log";

test.describe("over a network", () => {
  test("rows are rendered before the Markdown parser loads, and stay in place when it does", async ({
    world,
    visitor,
  }) => {
    const sent = await world.scorel(["send", "--json", "--project", world.project, "-"], "stream 3");
    expect(sent, sent.stderr).toMatchObject({ code: 0 });
    await world.killHost();
    const text = "# Title\n\n- **one**\n\n- two\n\n> quote\n\nSome *words* that are read later.";
    appendMessages(
      world.scorelHome,
      Array.from({ length: 30 }, (_, i) => {
        const content = [{ type: "text", text: i % 2 ? text : `Question ${i}` }];
        return i % 2 ? { role: "assistant", content, stopReason: "stop" } : { role: "user", content };
      }),
    );
    await world.startHost();
    const anna = await visitor({ serviceWorkers: "block" });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await anna.page.route(/\/assets\/reader-[^/]*\.js$/, async (route) => {
      await released;
      await route.continue();
    });
    await anna.pair();
    await anna.at("session-row").click();
    const last = anna.at("message-assistant").last();
    await expect(last).toContainText("**one**");
    await expect(last.locator("strong")).toHaveCount(0);
    // A reader of earlier content stays there.
    await anna.page.getByRole("region", { name: "Transcript" }).hover();
    await anna.page.mouse.wheel(0, -300);
    await expect(anna.at("to-latest")).toBeVisible();
    const place = () =>
      anna.page.evaluate(() => {
        const box = document.querySelector("[data-transcript]")?.getBoundingClientRect().top ?? 0;
        const rows = [...document.querySelectorAll("[data-row]")];
        const row = rows.find((each) => each.getBoundingClientRect().bottom > box);
        return { row: row?.getAttribute("data-row"), top: Math.round(row?.getBoundingClientRect().top ?? 0) };
      });
    const before = await place();
    release();
    await expect(last.locator("strong")).toHaveCount(1);
    await expect(last.locator("h1")).toHaveText("Title");
    const after = await place();
    expect(after.row).toBe(before.row);
    expect(Math.abs(after.top - before.top)).toBeLessThanOrEqual(1);
  });
});
