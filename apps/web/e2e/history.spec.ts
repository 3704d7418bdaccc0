import { expect, test } from "./harness";
import { words } from "./visitor";

test("branches are left and returned to; the file keeps everything", async ({ visitor }) => {
  const anna = await visitor();
  await anna.settle();
  for (const prompt of ["stream 3", "stream 4"]) {
    await anna.prompt(prompt);
    await anna.expectTruth();
  }
  await anna.at("place-menu").nth(2).click();
  await anna.at("go-here").click();
  await expect(anna.at("composer")).toHaveValue("stream 4");
  await expect(anna.at("message-user")).toHaveCount(1);
  await anna.prompt("stream 5");
  await expect
    .poll(async () => (await anna.said()).map((each) => each.text))
    .toEqual(["stream 3", words(3), "stream 5", words(5)]);
  await anna.rest();

  await anna.at("open-tree").click();
  await expect(anna.at("tree-node")).toHaveCount(6);
  await anna
    .at("tree-node")
    .filter({ hasText: words(4) })
    .first()
    .click();
  await anna.page.getByRole("checkbox").check();
  await anna.at("go-here").click();
  await expect(anna.at("summary")).toContainText("Summary of another branch");
  await anna.page.reload();
  await expect
    .poll(async () => (await anna.said()).map((each) => each.text))
    .toEqual(["stream 3", words(3), "stream 4", words(4)]);

  const before = anna.sessionId;
  await anna.at("place-menu").nth(2).click();
  await anna.at("fork-here").click();
  await expect(anna.page).not.toHaveURL(new RegExp(before));
  await expect(anna.at("composer")).toHaveValue("stream 4");
  await anna.prompt("stream 2");
  await anna.expectTruth();
});

test("queued prompts are edited, moved and removed, and reach the agent like that", async ({ visitor }) => {
  const anna = await visitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await anna.settle();
  await anna.prompt("stream 3000");
  await anna.streaming.waitFor();
  for (const prompt of ["stream 1", "stream 2", "stream 3"]) {
    await anna.prompt(prompt);
  }
  await expect(anna.at("queue-buttons")).toHaveCount(3);
  // The answer above grows: a tap would hit the place where the button was.
  const press = (prompt: number, label: string) =>
    anna.at("queue-buttons").nth(prompt).getByLabel(label).dispatchEvent("click");
  await press(2, "Move up");
  await expect(anna.at("message-user").nth(2)).toContainText("stream 3");
  await press(0, "Remove");
  await expect(anna.at("queue-buttons")).toHaveCount(2);
  await press(0, "Edit queued message");
  await anna.page.getByLabel("Message", { exact: true }).fill("stream 4");
  await anna.page.getByRole("button", { name: "Save" }).tap();
  await expect(anna.at("message-user").nth(1)).toContainText("stream 4");
  await anna.at("cancel-turn").tap();
  await anna.expectTruth();
  expect((await anna.said()).filter((each) => each.who === "user").map((each) => each.text)).toEqual([
    "stream 3000",
    "stream 4",
    "stream 2",
  ]);
});
