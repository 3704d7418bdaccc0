// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";
import { chooseTheme, chosenTheme, followTheme, showTheme } from "./theme";

const bars = () => [...document.querySelectorAll("meta")].map((meta) => meta.content);

beforeEach(() => {
  localStorage.clear();
  document.head.innerHTML = `<meta name="theme-color" content="#f4f6f3" media="(prefers-color-scheme: light)">
    <meta name="theme-color" content="#0e1210" media="(prefers-color-scheme: dark)">`;
  showTheme("");
});

it("shows the chosen theme, stores it, and returns to the system's", () => {
  chooseTheme("dark");
  expect(document.documentElement.dataset.theme).toBe("dark");
  expect(bars()).toEqual(["#0e1210", "#0e1210"]);
  expect(chosenTheme()).toBe("dark");
  chooseTheme("");
  expect(document.documentElement.dataset.theme).toBeUndefined();
  expect(bars()).toEqual(["#f4f6f3", "#0e1210"]);
  expect(chosenTheme()).toBe("");
});

it("follows a choice of another tab", () => {
  followTheme();
  localStorage.setItem("scorel.theme", "light");
  dispatchEvent(new StorageEvent("storage", { key: "scorel.theme" }));
  expect(document.documentElement.dataset.theme).toBe("light");
});

it("treats any other stored value as no choice", () => {
  localStorage.setItem("scorel.theme", "sepia");
  expect(chosenTheme()).toBe("");
});

it("shows the choice in a browser that stores nothing", () => {
  const set = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new Error("full");
  });
  chooseTheme("light");
  set.mockRestore();
  expect(document.documentElement.dataset.theme).toBe("light");
});
