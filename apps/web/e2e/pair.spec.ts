import type { Page } from "@playwright/test";
import encodeQR from "qr";
import { expect, test } from "./harness";
import { json, type Running } from "./process";

interface Shown {
  code: string;
  url: string;
}

test.describe("a pairing started on the machine", () => {
  test("its link pairs one browser, and leaves no code in the address", async ({ world, visitor }) => {
    const pairing = world.start("pair", "--yes");
    const url = await pairing.line((line) => /in a browser:\s+(\S+)/.exec(line)?.[1] ?? null);
    expect(url).toMatch(new RegExp(`^${world.url}/pair#[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}$`));
    const anna = await visitor();
    await anna.page.goto(url);
    await expect(anna.page).toHaveURL(/\/d\/dev_[a-z2-7]+$/);
    expect(await pairing.exit()).toBe(0);
    expect(pairing.output).toContain("paired with");
    const addresses = await anna.page.evaluate(() => window.navigation.entries().map((each) => each.url));
    expect(addresses).toContain(`${world.url}/pair`);
    expect(addresses.join()).not.toContain("#");

    const ben = await visitor();
    await ben.page.goto(url);
    await expect(ben.page.getByRole("alert")).toContainText("No machine shows this code now");
    expect(ben.page.url()).toBe(`${world.url}/pair`);
  });

  test("its code can be typed; a mistyped one is rejected on both sides", async ({ world, visitor }) => {
    const anna = await visitor();
    await anna.open();
    const type = async (code: string) => {
      await anna.at("pair-code-input").fill(code);
      await anna.at("pair-redeem").click();
    };
    await test.step("what is no code at all", async () => {
      await type("nonsense");
      await expect(anna.page.getByRole("alert")).toContainText("That is not a pairing code");
    });
    await test.step("a code that nobody shows", async () => {
      await type("ZZZZ-ZZZZ-ZZZZ");
      await expect(anna.page.getByRole("alert")).toContainText("No machine shows this code now");
      await anna.page.getByRole("button", { name: "Show a new code" }).click();
      await expect(anna.at("pair-code")).toBeVisible();
    });
    await test.step("a code with one letter wrong, which burns it", async () => {
      const pairing = world.start("pair", "--yes", "--json");
      const { code } = await pairing.line(json<Shown>("code"));
      const other = code.slice(0, -1) + (code.endsWith("0") ? "1" : "0");
      await type(other);
      await expect(anna.page.getByRole("alert")).toContainText("do not have the same code");
      await refused(pairing);
      await type(code);
      await expect(anna.page.getByRole("alert")).toContainText("No machine shows this code now");
    });
    await test.step("the right one, in small letters and without dashes", async () => {
      const pairing = world.start("pair", "--yes", "--json");
      const { code } = await pairing.line(json<Shown>("code"));
      await type(code.toLowerCase().replaceAll("-", " "));
      await expect(anna.page).toHaveURL(/\/d\/dev_[a-z2-7]+$/);
      expect(await pairing.exit()).toBe(0);
    });
  });
});

test("a code is scanned with the camera, by a browser with a name of its own", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.open();
  await anna.at("browser-name-input").fill("  Anna's phone ");
  await anna.at("browser-name-save").click();
  await expect(anna.at("browser-name")).toHaveText("Anna's phone");
  await expect(anna.at("pair-code")).toBeVisible();
  const scan = anna.page.getByRole("dialog").getByRole("status").first(); // toasts have another one
  await test.step("other QR codes are told apart", async () => {
    await show(anna.page, `https://relay.example/pair#7K3M-9QXR-2BTD`);
    await anna.at("pair-scan").click();
    await expect(scan).toContainText("This code is for another relay, https://relay.example.");
    await show(anna.page, "https://example.org/menu");
    await expect(scan).toContainText("This QR code is not a pairing code.");
  });
  const pairing = world.start("pair", "--yes", "--json");
  const { url } = await pairing.line(json<Shown>("code"));
  await show(anna.page, url);
  await expect(anna.page).toHaveURL(/\/d\/dev_[a-z2-7]+$/);
  expect(await pairing.exit()).toBe(0);
  expect(pairing.output).toContain("Anna's phone");
});

/** Makes the page's camera show the QR code of a text. */
async function show(page: Page, text: string): Promise<void> {
  await page.evaluate(
    (modules) => {
      const shared = window as unknown as { camera?: HTMLCanvasElement };
      let canvas = shared.camera;
      if (!canvas) {
        canvas = document.createElement("canvas");
        canvas.width = 1280;
        canvas.height = 720;
        shared.camera = canvas;
        const stream = canvas.captureStream(10);
        navigator.mediaDevices.getUserMedia = async () => stream;
      }
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      const draw = () => {
        context.fillStyle = "#ddd";
        context.fillRect(0, 0, 1280, 720);
        context.fillStyle = "#111";
        modules.forEach((row, y) => {
          row.forEach((dark, x) => {
            if (dark) {
              context.fillRect(400 + x * 8, 160 + y * 8, 8, 8);
            }
          });
        });
      };
      clearInterval(Number(canvas.dataset.timer));
      canvas.dataset.timer = String(setInterval(draw, 100)); // a stream has frames only when the canvas is drawn again
    },
    encodeQR(text, "raw", { border: 4 }),
  );
}

/** Asserts that the command failed, with one sentence without the code. */
async function refused(pairing: Running): Promise<void> {
  expect(await pairing.exit()).not.toBe(0);
  expect(pairing.log).toMatch(/code/);
  expectOneError(pairing.log);
}

/** Expects one error, with a link to the section about it. */
function expectOneError(log: string): void {
  const [error, help, ...more] = log.trim().split("\n");
  expect([error?.startsWith("scorel: "), help?.startsWith("Help: https://"), more.length]).toEqual([true, true, 0]);
}

test("a code that the page shows is valid for one machine", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.pair();
  const again = await world.scorel(["pair", anna.code, "--yes"]);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toMatch(/code/);
  expectOneError(again.stderr);
});

test("an unreachable relay is reported, and can be changed in the settings", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.open();
  await expect(anna.at("pair-code")).toBeVisible();
  const relay = async (url: string) => {
    await anna.page.getByRole("button", { name: "Change the relay address" }).click();
    await anna.page.getByLabel("Relay address").fill(url);
    await anna.page.getByRole("button", { name: "Use this relay" }).click();
  };
  await relay("http://127.0.0.1:9");
  await expect(anna.at("link-banner").first()).toContainText("No connection to the relay");
  await expect(anna.at("pair-code")).toHaveCount(0);
  await anna.page.reload();
  await expect(anna.at("link-banner").first()).toContainText("No connection to the relay");
  await relay(world.url);
  await expect(anna.at("link-state").first()).toHaveAttribute("data-state", "online");
  await anna.settle();
});

test.describe("a page without a secure context", () => {
  test.use({ options: { publicUrls: ["http://relay.test:{port}"] } });

  test("shows why it cannot work and what to do", async ({ world, visitor }) => {
    const anna = await visitor();
    await anna.page.goto(`http://relay.test:${world.port}/`);
    await expect(anna.at("unsupported")).toContainText("not opened over https");
    await expect(anna.at("unsupported")).toContainText("Open the page over https");
    anna.forgive(/Cross-Origin-Opener-Policy header has been ignored/);
    await anna.page.goto(world.url);
    await expect(anna.at("pair-code")).toBeVisible();
  });
});
