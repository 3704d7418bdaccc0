import { expect, test } from "./harness";

test("the keyboard finds a session, an action and a machine, stops a turn, and does not affect fields", async ({
  visitor,
}) => {
  const anna = await visitor();
  await anna.settle();
  const { page } = anna;
  const session = anna.sessionPath;
  const field = anna.at("palette-text");
  const find = async (text: string, kind: string) => {
    await page.keyboard.press("Control+k");
    await expect(field).toBeFocused();
    await field.fill(text);
    await expect(page.locator(`[role=option][aria-selected=true][data-kind="${kind}"]`)).toBeVisible();
  };

  await test.step("Escape twice stops the turn, once does not", async () => {
    await anna.prompt("stream 100000");
    await expect(anna.streaming).toBeVisible();
    await anna.at("composer").press("Escape");
    await expect(anna.at("cancel-turn")).toBeVisible();
    // On a busy machine the second press may come after the 3 s in which it counts: press until the turn stops.
    await expect(async () => {
      await anna.at("composer").press("Escape");
      await expect(anna.streaming).toHaveCount(0, { timeout: 2000 });
    }).toPass();
    await anna.rest();
  });

  await test.step("Escape closes the palette, and the focus goes back", async () => {
    await anna.at("composer").focus();
    await page.keyboard.press("Control+k");
    await expect(field).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(anna.at("palette")).toHaveCount(0);
    await expect(anna.at("composer")).toBeFocused();
  });

  await test.step("it goes to a machine, a session and the inbox", async () => {
    await find("workshop", "machines");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/d\/dev_[a-z2-7]+$/);
    await find("stream", "sessions");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`${session}$`));
    await find("inbox", "actions");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/$/);
  });

  await test.step("j and k move in the inbox, and are letters in a field", async () => {
    const row = page.locator("main [data-stop]").first();
    await expect(row).toBeVisible();
    await page
      .locator("main")
      .first()
      .evaluate((main) => (main.ownerDocument.activeElement as HTMLElement)?.blur());
    await page.keyboard.press("j");
    await expect(row).toBeFocused();
    const search = page.locator("main").getByTestId("session-search");
    await search.focus();
    await page.keyboard.type("jk");
    await expect(search).toHaveValue("jk");
    await expect(search).toBeFocused();
  });
});
