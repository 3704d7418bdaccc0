import { drafts } from "./drafts";
import { expect, test } from "./harness";

test("a prompt written offline is sent without opening its session again", async ({ world, visitor }) => {
  const anna = await visitor();
  const session = await anna.settle();
  const device = anna.sessionPath.split("/s/")[0] ?? "";
  await world.killHost();
  await expect(anna.at("session-strip")).toHaveAttribute("data-status", "offline");
  await anna.prompt("for later");
  await expect(anna.at("message-state")).toHaveText("Waiting to send");

  await test.step("the machine's page shows it", async () => {
    await anna.page.getByRole("link", { name: "workshop" }).first().click();
    await expect(anna.at("waiting-row")).toContainText("for later");
    await expect(anna.at("sidebar-device").getByTestId("waiting-badge")).toHaveText(/1 message waiting to send/);
  });

  await test.step("a tab that is opened later sends it, and shows another page", async () => {
    await anna.page.close();
    const later = anna.on(await anna.context.newPage());
    await later.open();
    await expect(later.at("device-row").getByTestId("waiting-badge")).toHaveText(/1 message waiting to send/);
    await world.startHost();
    await expect(later.at("waiting-badge")).toHaveCount(0, { timeout: 30_000 });
    expect(new URL(later.page.url()).pathname).toBe("/");
    await later.open(`${device}/s/${session}`);
    await later.expectTruth();
    const said = (await later.said()).filter((each) => each.who === "user").map((each) => each.text);
    expect(said).toEqual(["for later"]);
  });
});

test("a prompt is sent while another session of the machine is open", async ({ world, visitor }) => {
  const anna = await visitor();
  const first = await anna.settle();
  const device = anna.sessionPath.split("/s/")[0] ?? "";
  await anna.open(device);
  const second = await anna.newSession();
  expect(second).not.toBe(first);
  await anna.open(`${device}/s/${first}`);
  const other = anna.page.locator(`a[href$="/s/${second}"]`).first();
  await expect(other).toBeVisible();
  await expect(anna.at("composer")).toBeEnabled();
  await world.killRelay();
  await expect(anna.at("link-state").first()).toHaveAttribute("data-state", "connecting");
  await anna.prompt("meant for the first");
  await expect(anna.at("message-state")).toHaveText("Waiting to send");
  await other.click();
  await expect(anna.page).toHaveURL(new RegExp(`/s/${second}$`));
  await world.startRelay();
  await expect(anna.at("waiting-badge")).toHaveCount(0, { timeout: 45_000 });
  await expect(anna.page).toHaveURL(new RegExp(`/s/${second}$`));
  await expect(anna.at("message-user")).toHaveCount(0);
  await anna.open(`${device}/s/${first}`);
  await expect(anna.at("message-user")).toContainText("meant for the first");
  await anna.expectTruth();
});

test("a draft survives its tab", async ({ visitor }) => {
  const anna = await visitor();
  await anna.settle();
  const path = anna.sessionPath;
  await anna.at("composer").fill("half a thought");
  await expect.poll(() => anna.page.evaluate(drafts, "texts")).toEqual(["half a thought"]);
  await anna.page.close();
  const later = anna.on(await anna.context.newPage());
  await later.open(path);
  await expect(later.at("composer")).toHaveValue("half a thought");
  await later.at("send").click();
  await later.expectTruth();
  await expect.poll(() => later.page.evaluate(drafts, "texts")).toEqual([]);
  await later.page.reload();
  await expect(later.at("message-user")).toContainText("half a thought");
  await expect(later.at("composer")).toHaveValue("");
});
