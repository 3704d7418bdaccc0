import { opening, type Sight, toTop } from "./sight";

/** The message box with its menus and attachments, and prompts that are not sent yet. */
export const composerSights: Sight[] = [
  {
    name: "backendcommands",
    scene: "backendcommands",
    act: async (page) => {
      await page.getByTestId("backend-options").waitFor();
      await page.getByTestId("composer").fill("/");
      await page.getByTestId("slash-option").nth(1).waitFor();
    },
  },
  {
    name: "backendoptions",
    scene: "backendcommands",
    act: async (page) => {
      await page.getByTestId("backend-options").click();
      await page.getByTestId("backend-option-mode").waitFor();
    },
  },
  {
    name: "startbackend",
    scene: "startbackend",
    act: (page) =>
      page
        .getByTestId("start-backend")
        .selectOption("claude")
        .then(() => {}),
  },
  {
    name: "startdenied",
    scene: "startbackend",
    act: opening("Programs that this browser cannot use", "why-denied"),
  },
  {
    name: "startfailed",
    scene: "startfailed",
    act: (page) => page.getByText("Not sent").waitFor(),
  },
  {
    name: "picturesqueue",
    scene: "pictures",
    act: async (page) => {
      await page.getByRole("button", { name: "Edit queued message" }).click();
      await page.getByRole("dialog").getByRole("img").first().waitFor();
    },
  },
  {
    name: "picturesedit",
    scene: "pictures",
    act: async (page) => {
      await toTop(page);
      await page.getByTestId("place-menu").first().click();
      await page.getByTestId("go-here").click();
      await page.getByTestId("attached-images").getByRole("img").first().waitFor();
      await page.getByTestId("send").click();
    },
  },
  {
    name: "slash",
    scene: "chat",
    act: async (page) => {
      await page.getByTestId("composer").fill("/");
      await page.getByText("/simplify").waitFor();
    },
  },
  {
    name: "files",
    scene: "chat",
    act: async (page) => {
      await page.getByTestId("composer").fill("Why does @client");
      await page.getByText("client.go").waitFor();
    },
  },
  {
    name: "serverprompts",
    scene: "chat",
    act: async (page) => {
      await page.getByTestId("composer").fill("/mcp__");
      await page.getByText("/mcp__rooms__tidy").waitFor();
    },
  },
  {
    name: "serverresources",
    scene: "chat",
    act: async (page) => {
      await page.getByTestId("composer").fill("Do what @house");
      await page.getByText("House rules").waitFor();
    },
  },
];
