import type { Locator } from "@playwright/test";
import { expect, test } from "./harness";
import { sessionFiles } from "./log";
import { words } from "./visitor";

test("a new browser pairs, adds a project, and reads what the agent does", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.open();
  await expect(anna.page).toHaveURL(`${world.url}/pair`);
  await expect(anna.at("link-state").first()).toHaveAttribute("data-state", "online");
  await expect(anna.at("pair-code")).toHaveText(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/);
  await anna.pair();
  await anna.open();
  await expect(anna.at("device-row")).toContainText("workshop");
  await expect(anna.at("device-status")).toHaveText("online");
  await anna.at("device-row").getByRole("link").click();
  await anna.addProject();
  await anna.startSession();

  await test.step("an answer grows in sight", async () => {
    expect(sessionFiles(world.scorelHome)).toEqual([]);
    await anna.prompt("stream 200");
    await expect(anna.page).toHaveURL(/\/s\/[^/]+$/);
    await expect(anna.streaming).toContainText("word5 ");
    await expect(anna.streaming).not.toContainText("word200", { timeout: 1 });
    await anna.rest();
    expect((await anna.said()).at(-1)?.text).toBe(words(200));
    await expect(anna.at("message-state")).toContainText("Delivered");
  });

  await test.step("a tool card holds the result", async () => {
    await anna.prompt("read README.md");
    const card = anna.at("tool-card").filter({ hasText: "README.md" });
    await anna.rest();
    await expect(card).toHaveAttribute("data-state", "done");
    await reading(card, async () => expect(card).toContainText("Its lamp turns once in ten seconds."));
  });

  await test.step("a command runs once it is allowed", async () => {
    await anna.prompt("run echo lantern-$((40+2))");
    await expect(anna.at("approval-card")).toContainText("echo lantern-$((40+2))");
    await expect(anna.at("tool-card").last()).toHaveAttribute("data-state", "waiting");
    await anna.at("approval-allow").click();
    await anna.rest();
    await expect(anna.at("approval-card")).toHaveCount(0);
    const card = anna.at("tool-card").last();
    await expect(card).toHaveAttribute("data-state", "done");
    await reading(card, async () => {
      await expect(card).toContainText("lantern-42");
      await expect(card).toContainText("Allowed once by");
    });
  });

  await test.step("a command that is denied does not run", async () => {
    await anna.prompt("run touch forbidden.txt");
    await anna.at("approval-deny").click();
    await anna.rest();
    await expect(anna.at("tool-card").last()).toContainText("denied");
    expect(anna.log().some((line) => line.data?.decision === "deny")).toBe(true);
    expect(world.projectFiles()).toEqual(["README.md", "lamp.go"]);
  });

  await test.step("reloaded, it reads the same", async () => {
    await anna.expectTruth();
    const before = await anna.transcript();
    expect(before).toContain("word60");
    await anna.page.reload();
    await expect(anna.at("tool-card")).toHaveCount(3);
    await anna.expectTruth();
    await expect.poll(() => anna.transcript()).toBe(before);
  });
});

/** Keeps a card open while it is read. */
async function reading(card: Locator, read: () => Promise<void>): Promise<void> {
  await card.getByRole("button").first().click();
  await read();
  await card.getByRole("button").first().click();
}
