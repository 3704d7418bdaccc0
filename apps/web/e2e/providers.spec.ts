import { expect, test } from "./harness";
import { ModelServer } from "./model-server";

// Without a config.toml the demo model answers.
test("a provider on the machine is added, answers a prompt, and is removed", async ({ visitor }) => {
  const server = new ModelServer();
  try {
    const anna = await visitor();
    await anna.settle();
    const session = anna.sessionPath;
    const settings = async () => {
      await anna.open(session.split("/s/")[0]);
      await anna.at("machine-settings").click();
    };
    const confirm = () =>
      anna.page.getByRole("dialog").last().getByRole("button", { name: "Remove", exact: true }).click();

    await settings();
    await anna.at("add-provider").click();
    await anna.at("provider-preset").selectOption("");
    await anna.at("provider-name").fill("local");
    await anna.at("provider-url").fill("http://example.com/v1");
    await anna.at("provider-save").click();
    await expect(anna.page.getByRole("alert")).toContainText("unencrypted");
    await anna.at("provider-url").fill(await server.start());
    await anna.at("provider-model").fill("scripted");
    await anna.at("provider-save").click();
    const added = anna.at("provider").filter({ hasText: "local" });
    await expect(added).toContainText("Default");
    await added.getByTestId("model-test").click();
    await expect(added).toContainText("scripted works");

    await test.step("it answers in a new session", async () => {
      await anna.open(session.split("/s/")[0]);
      await anna.newSession();
      await anna.prompt("write 3 at 1000");
      await anna.rest();
      expect(JSON.stringify(anna.log())).toContain('"provider":"local"');
    });

    await test.step("and is removed with its model", async () => {
      await settings();
      await added.getByTestId("model-remove").click();
      await confirm();
      await expect(added.getByTestId("model")).toHaveCount(0);
      await added.getByTestId("provider-remove").click();
      await confirm();
      await expect(added).toHaveCount(0);
    });
  } finally {
    await server.stop();
  }
});
