import { opening, type Sight } from "./sight";

/** The inbox and the sheets that are opened from every page. */
export const inboxSights: Sight[] = [
  {
    name: "inbox",
    scene: "inbox",
    act: async (page) => {
      await page.getByTestId("approval-card").nth(1).waitFor();
      await page.getByTestId("question-card").waitFor();
    },
  },
  {
    name: "palette",
    scene: "inbox",
    act: async (page) => {
      await page.getByTestId("inbox-row").first().waitFor();
      await page.getByTestId("open-palette").click();
      await page.getByTestId("palette-text").fill("session");
      await page.locator('[data-kind="text"]').first().waitFor();
    },
  },
  {
    name: "inboxkeys",
    scene: "inboxempty",
    act: async (page) => {
      await page.getByText("No sessions yet").waitFor();
      await page.getByTestId("skip").waitFor({ state: "attached" }); // the keys are loaded
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    },
  },
  { name: "folders", scene: "device", act: opening("Choose a folder", "add-project") },
  {
    name: "settings",
    scene: "devices",
    act: async (page) => {
      await page.getByRole("button", { name: "Settings" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "forget",
    scene: "devices",
    act: async (page) => {
      await page.getByRole("button", { name: "Remove workshop" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
];
