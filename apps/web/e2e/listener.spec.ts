import { expect, test } from "./harness";
import { words } from "./visitor";

test.use({ options: { parts: "listener" } });

test("a host serves the page itself: without a relay, a browser pairs, prompts, approves and reloads", async ({
  world,
  visitor,
}) => {
  const anna = await visitor();
  await anna.open();
  await expect(anna.page).toHaveURL(`${world.url}/pair`);
  await anna.settle();

  await test.step("an answer streams", async () => {
    await anna.prompt("stream 200");
    await expect(anna.streaming).toContainText("word5 ");
    await anna.rest();
    expect((await anna.said()).at(-1)?.text).toBe(words(200));
  });

  await test.step("a command runs once it is allowed", async () => {
    await anna.prompt("run echo lantern-$((40+2)) > lit.txt");
    await expect(anna.at("approval-card")).toContainText("lantern-$((40+2))");
    expect(world.projectFiles()).not.toContain("lit.txt");
    await anna.at("approval-allow").click();
    await anna.rest();
    expect(world.read("lit.txt")).toBe("lantern-42\n");
  });

  await test.step("reloaded, it reads the same", async () => {
    await anna.expectTruth();
    const before = await anna.transcript();
    await anna.page.reload();
    await anna.expectTruth();
    await expect.poll(() => anna.transcript()).toBe(before);
  });

  await test.step("it returns after a crash of the host, in the middle of an answer", async () => {
    await anna.prompt("stream 4000");
    await expect(anna.streaming).toContainText("word20 ");
    await world.killHost();
    await expect(anna.at("session-strip")).toBeVisible();
    await world.startHost();
    await anna.expectTruth();
    await anna.prompt("stream 5");
    await anna.expectTruth();
  });

  await test.step("its settings name the path in use", async () => {
    await anna.open(anna.sessionPath.split("/s/")[0]);
    await anna.at("machine-settings").click();
    const paths = anna.at("path");
    await expect(paths).toHaveCount(1);
    await expect(paths).toHaveAttribute("data-url", world.url);
    await expect(paths).toHaveAttribute("data-state", "used");
    await expect(paths).toContainText("Same machine");
  });

  await test.step("a removed browser is removed here too", async () => {
    const removed = await world.scorel(["host", "clients", "revoke", anna.clientId]);
    expect(removed, removed.stderr).toMatchObject({ code: 0 });
    await expect(anna.at("revoked-notice").first()).toBeVisible();
  });
});
