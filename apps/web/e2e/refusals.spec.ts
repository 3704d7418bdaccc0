import { expect, test } from "./harness";

test("an action that fails shows one sentence in its place", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.pair();
  await test.step("a folder that does not exist", async () => {
    await anna.at("add-project").click();
    await anna.page.getByLabel("Or type a path").fill(`${world.home}/nowhere`);
    await anna.page.getByRole("button", { name: "Go" }).click();
    await expect(anna.page.getByRole("alert")).toContainText("nowhere cannot be used: it does not exist");
    await expect(anna.at("choose-folder")).toBeDisabled();
    await anna.page.getByRole("button", { name: "Cancel" }).click();
  });
  await anna.addProject();
  const sessionId = await anna.newSession();
  await test.step("a project that has sessions is not removed", async () => {
    await anna.prompt("stream 3");
    await anna.rest();
    await anna.open(anna.sessionPath.split("/s/")[0]);
    await anna.at("project-settings").click();
    await anna.at("remove-project").click();
    await anna.page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await expect(anna.page.getByRole("alert")).toContainText("only a project without sessions can be removed");
    await expect(anna.page.getByRole("alert").getByRole("link", { name: "Help" })).toHaveAttribute(
      "href",
      "/docs/troubleshooting#project_in_use",
    );
    await anna.page.getByRole("button", { name: "Cancel" }).click();
  });
  await test.step("a session that is not there", async () => {
    await anna.at("session-row").click();
    const path = anna.sessionPath;
    await anna.open(path.replace(sessionId, "00000000-0000-7000-8000-000000000000"));
    await expect(anna.page.getByText("Session not found")).toBeVisible();
  });
  await test.step("a device that this browser is not paired with", async () => {
    for (const path of [`/d/dev_${"a".repeat(32)}`, `/d/dev_${"a".repeat(32)}/s/${sessionId}`]) {
      await anna.open(path);
      await expect(anna.page.getByText("This browser is not paired with that machine")).toBeVisible();
    }
  });
});

test.describe("with a model that is not served", () => {
  test.use({
    options: {
      config: [
        'default_model = "main"',
        "[providers.local]",
        'type = "openai"',
        'base_url = "http://127.0.0.1:9/v1"',
        "[models.main]",
        'provider = "local"',
        'id = "absent"',
        "",
      ].join("\n"),
    },
  });

  test("the turn fails with a sentence, and the session continues", async ({ visitor }) => {
    const anna = await visitor();
    await anna.settle();
    await anna.prompt("hello");
    await expect(anna.at("turn-error")).toContainText("127.0.0.1:9", { timeout: 120_000 });
    await anna.expectTruth();
    await anna.page.reload();
    await expect(anna.at("turn-error")).toHaveCount(1);
    await expect(anna.at("composer")).toBeEnabled();
  });
});

test("a turn that is canceled while it asks leaves no approval and no partial work", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  await anna.prompt("run touch forbidden.txt");
  await expect(anna.at("approval-card")).toBeVisible();
  await anna.at("cancel-turn").click();
  await expect(anna.at("approval-card")).toHaveCount(0);
  await anna.expectTruth();
  await expect(anna.at("tool-card")).toHaveAttribute("data-state", "failed");
  await anna.prompt("stream 5");
  await expect(anna.at("message-assistant").last()).toContainText("word5");
  await anna.expectTruth();
  expect(world.projectFiles()).not.toContain("forbidden.txt");
});
