import type { Page } from "@playwright/test";
import type { Sight } from "./sight";

/** Opens the access of one of the clients. */
const openAccess = (nth: number) => async (page: Page) => {
  await page.getByTestId("access").click();
  await page.getByTestId("client-grants").nth(nth).click();
  await page.getByTestId("client-access").waitFor();
};

/** The sheets of a machine: its clients, providers, other programs, notifications and paths. */
export const machineSights: Sight[] = [
  {
    name: "access",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("access").click();
      await page.getByTestId("client").nth(2).waitFor();
    },
  },
  {
    name: "accesslimited",
    scene: "access",
    act: async (page) => {
      await page.getByTestId("access").click();
      await page.getByTestId("client").nth(3).waitFor();
      await page.getByTestId("client").nth(1).scrollIntoViewIfNeeded();
    },
  },
  { name: "accessgrants", scene: "access", act: openAccess(1) },
  { name: "accessown", scene: "access", act: openAccess(0) },
  {
    name: "accesslimits",
    scene: "access",
    act: async (page) => {
      await openAccess(1)(page);
      await page.getByTestId("limits-expiry").selectOption("date");
      await page.getByTestId("save-limits").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "machinesettings",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("provider").nth(3).waitFor();
      await page.getByTestId("set-key").nth(1).click();
    },
  },
  {
    name: "providers",
    scene: "providers",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("model-test").first().click();
      await page.getByTestId("model-test").last().click();
      await page.getByTestId("model-problem").nth(1).waitFor();
      await page.getByTestId("provider-remove").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "addprovider",
    scene: "providers",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("add-provider").click();
      await page.getByTestId("provider-preset").selectOption("openrouter");
      await page.getByTestId("provider-save").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "editmodel",
    scene: "providers",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("model-edit").first().click();
      await page.getByTestId("model-save").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "backends",
    scene: "backends",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("backend-test").nth(1).click();
      await page.getByTestId("backend-result").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "notifications",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("push-address").nth(1).waitFor();
      await page.getByTestId("quiet-save").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "machinepaths",
    scene: "paths",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("path-hint").nth(2).scrollIntoViewIfNeeded();
    },
  },
];
