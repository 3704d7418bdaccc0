import { expect, test } from "./harness";

test("a shell runs in the page once the machine allows it, and survives a reload", async ({ world, visitor }) => {
  await world.scorel(["project", "add", world.project]);
  const anna = await visitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await anna.pair();
  await anna.at("open-terminals").click();
  await test.step("the page says how to allow it, and continues by itself", async () => {
    await expect(anna.at("terminal-grant")).toContainText(`scorel host clients grant ${anna.clientId} shell`);
    expect((await world.scorel(["host", "clients", "grant", anna.clientId, "shell"])).code).toBe(0);
  });
  const screen = anna.at("terminal-screen");
  const state = anna.at("terminal-state");
  const type = async (text: string) => {
    await expect(state).toHaveAttribute("data-state", "open");
    await screen.getByRole("textbox").pressSequentially(text);
    await anna.page.keyboard.press("Enter");
  };
  const rows = screen.locator(".xterm-rows");
  // Colors of every kind need styles, which the policy forbids as markup; titles and links of programs open nothing.
  await type("printf '\\033[38;2;200;80;40mcol''ored\\033[0m \\033]52;c;ZXZpbA==\\a\\033]0;na''med\\a'; echo $((6*7))");
  await expect(rows).toContainText("colored 42");
  await expect(rows.getByText("colored")).toHaveCSS("color", /rgb\(.*\)/);
  await expect(anna.at("terminal-tab")).toHaveText("named");
  await anna.page.reload();
  await expect(rows).toContainText("colored 42");
  await type("echo st''ill $((40+3))");
  await expect(rows).toContainText("still 43");
  await test.step("without the grant it ends", async () => {
    expect((await world.scorel(["host", "clients", "ungrant", anna.clientId, "shell"])).code).toBe(0);
    await expect(anna.at("terminal-grant").or(state.filter({ hasText: "no longer" }))).toBeVisible();
  });
});
