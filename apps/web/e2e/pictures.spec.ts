import { deflateSync } from "node:zlib";
import type { Locator } from "@playwright/test";
import { expect, test } from "./harness";
import { sessionFiles } from "./log";

test("a prompt carries an image, and keeps it when it is edited and resent", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.pair();
  await anna.addProject();
  await anna.startSession();
  await anna.at("attach-input").setInputFiles([
    { name: "red.png", mimeType: "image/png", buffer: png(255, 0, 0) },
    { name: "blue.png", mimeType: "image/png", buffer: png(0, 0, 255) },
  ]);
  await expect(anna.at("attached-images").getByRole("img")).toHaveCount(2);
  await anna.prompt("stream 3");
  await expect(anna.page).toHaveURL(/\/s\/[^/]+$/);
  await expect(anna.at("message-assistant")).toContainText("word3");
  await anna.rest();
  await expectShown(anna.at("picture"), 2);

  await test.step("an @ finds a file of the project", async () => {
    await anna.at("composer").pressSequentially("read @lmp");
    await expect(anna.at("file-option")).toHaveText(["lamp.go"]);
    await anna.at("composer").press("Enter");
    await expect(anna.at("composer")).toHaveValue("read @lamp.go ");
    await anna.at("composer").fill("");
  });

  await test.step("the images are there after a reload", async () => {
    await anna.page.reload();
    await expectShown(anna.at("picture"), 2);
  });

  await test.step("edited, it has them still, and one of them is removed", async () => {
    await anna.at("place-menu").first().click();
    await anna.at("go-here").click();
    const attached = anna.at("attached-images");
    await expectShown(attached.locator("img"), 2);
    await expect(anna.at("composer")).toHaveValue("stream 3");
    await attached.getByRole("button", { name: "Remove image 1" }).click();
    await anna.prompt("stream 4");
    await expect(anna.at("message-assistant")).toContainText("word4");
    await anna.rest();
    await expectShown(anna.at("picture"), 1);
  });
  expect(sessionFiles(world.scorelHome)).toHaveLength(1);

  await test.step("it is there while host and relay are off", async () => {
    await expect.poll(() => anna.page.evaluate(keptImages)).toBe(2); // stored with the entries that have them
    await anna.page.evaluate(() => navigator.serviceWorker.ready.then(() => null));
    await world.killHost();
    await world.killRelay();
    await anna.page.reload();
    await expect(anna.at("session-strip")).toContainText("Saved copy");
    // The copy may be from before the last prompt, which has one of the images.
    const widths = () => widthsOf(anna.at("picture"));
    await expect(async () => expect([[2], [2, 2]]).toContainEqual(await widths())).toPass();
  });
});

/** Returns the number of images stored on the browser's disk; runs in the page. */
function keptImages(): Promise<number> {
  return new Promise((resolve) => {
    const opened = indexedDB.open("scorel-copies", 1);
    opened.onerror = () => resolve(0);
    opened.onupgradeneeded = () => opened.transaction?.abort();
    opened.onsuccess = () => {
      const keys = opened.result.transaction("rows").objectStore("rows").getAllKeys();
      keys.onsuccess = () => {
        opened.result.close();
        resolve((keys.result as [string, string][]).filter(([, id]) => id.startsWith("image ")).length);
      };
    };
  });
}

test("a session that begins while the machine is offline is created once, with one prompt", async ({
  world,
  visitor,
}) => {
  const anna = await visitor();
  await anna.pair();
  await anna.addProject();
  await anna.startSession();
  await world.killHost();
  await expect(anna.at("offline-notice")).toBeVisible();
  await anna.prompt("stream 5");
  await expect(anna.page.getByText("Your message is sent when the machine is back")).toBeVisible();
  await anna.page.reload();
  await expect(anna.page.getByText("Your message is sent when the machine is back")).toBeVisible();
  await world.startHost();
  await expect(anna.page).toHaveURL(/\/s\/[^/]+$/, { timeout: 120_000 });
  await anna.expectTruth();
  expect((await anna.said()).filter(({ who }) => who === "user")).toEqual([{ who: "user", text: "stream 5" }]);
  expect(sessionFiles(world.scorelHome)).toHaveLength(1);
});

async function expectShown(pictures: Locator, count: number): Promise<void> {
  await expect.poll(() => widthsOf(pictures)).toEqual(Array.from({ length: count }, () => 2));
}

/** Returns the width in pixels of each image, 0 if it is not decoded. */
function widthsOf(pictures: Locator): Promise<number[]> {
  return pictures.evaluateAll((all) => all.map((each) => (each as HTMLImageElement).naturalWidth));
}

/** Returns a picture of 2 x 2 pixels in one color. */
function png(...color: [number, number, number]): Buffer {
  const header = Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
  const row = [0, ...color, ...color];
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(Buffer.from([...row, ...row]))), chunk("IEND")];
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...chunks]);
}

function chunk(type: string, data = Buffer.alloc(0)): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc(body));
  return Buffer.concat([size, body, sum]);
}

function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    }
  }
  return (value ^ 0xffffffff) >>> 0;
}
