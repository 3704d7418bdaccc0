import { expect, test } from "./harness";

test.use({ options: { parts: "listener" } });

test("the documentation is read and searched where the page is, and reaches nothing of the page", async ({
  world,
  visitor,
}) => {
  const anna = await visitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const { page } = anna;
  await page.goto(`${world.url}/pair`);
  await page.evaluate(async () => {
    indexedDB.open("canary");
    await navigator.serviceWorker.ready;
  });

  await test.step("the service worker leaves the address to the server", async () => {
    await page.goto(`${world.url}/docs/permissions`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Permissions");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(wide).toBe(0);
  });

  await test.step("a word is found, and the result leads to its section", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("proxy protocol");
    await page.getByRole("search").getByRole("link").first().waitFor();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/docs\/(operations|reverse-proxies)#/);
  });

  await test.step("it has an origin of its own", async () => {
    const reached = await page.evaluate(async () => {
      const attempt = (act: () => unknown) => {
        try {
          return act() ? "reached" : "nothing";
        } catch (error) {
          return (error as Error).name;
        }
      };
      return [
        self.origin,
        attempt(() => localStorage.length + 1),
        attempt(() => indexedDB.open("canary")),
        await fetch("/").then(
          () => "reached",
          () => "refused",
        ),
      ];
    });
    expect(reached).toEqual(["null", "SecurityError", "SecurityError", "refused"]);
    anna.forgive(/Content Security Policy/);
  });
});
