// @vitest-environment node
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { textIn, type View, viewsOf } from "./scan";

// The QR codes of `scorel pair` as a phone's camera sees them from 1 m: 60 degrees across a picture of 1280 by 720 are
// 1.11 pixels per millimeter. The terminal has a font of 14 px at 96 dpi, whose characters are 8.4 by 17 px.

const link = "https://relay.example.org/pair#7K3M-9QXR-2BTD";
const camera = { width: 1280, height: 720, degrees: 60, distance: 1000 };
const inch = 25.4;
const cell = { width: (8.4 / 96) * inch, height: (17 / 96) * inch };

/** Reports whether a point of a terminal is light, in millimeters from its corner. */
type Screen = (x: number, y: number) => boolean;

function terminal(drawn: string): { screen: Screen; width: number; height: number } {
  const rows = drawn
    .trimEnd()
    .split("\n")
    .map((line) => [...line]);
  const screen: Screen = (x, y) => {
    const row = Math.floor(y / cell.height);
    const sign = rows[row]?.[Math.floor(x / cell.width)] ?? " ";
    const upper = y / cell.height - row < 0.5;
    return sign === "█" || (upper ? sign === "▀" : sign === "▄");
  };
  return { screen, width: (rows[0]?.length ?? 0) * cell.width, height: rows.length * cell.height };
}

/** A frame of the camera. `shift` moves the camera by a fraction of a pixel, `tilt` turns it by degrees. */
function picture({ screen, width, height }: ReturnType<typeof terminal>, shift: number, tilt: number) {
  const { width: columns, height: rows } = camera;
  const perPixel = (2 * camera.distance * Math.tan((camera.degrees / 2) * (Math.PI / 180))) / columns;
  const data = new Uint8ClampedArray(columns * rows * 4);
  const [sin, cos] = [Math.sin((tilt * Math.PI) / 180), Math.cos((tilt * Math.PI) / 180)];
  const parts = 5; // each pixel is the mean of its area, and the lens blurs a third of its neighbors into it
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      let light = 0;
      if (Math.hypot((x - columns / 2) * perPixel, (y - rows / 2) * perPixel) > Math.hypot(width, height) / 2 + 5) {
        data.set([45, 45, 45, 255], (y * columns + x) * 4); // the surroundings are dark
        continue;
      }
      for (let i = 0; i < parts * parts; i++) {
        const dx = (x + shift + (((i % parts) + 0.5) / parts - 0.5) * 1.3 + 0.5 - columns / 2) * perPixel;
        const dy = (y + shift + ((Math.floor(i / parts) + 0.5) / parts - 0.5) * 1.3 + 0.5 - rows / 2) * perPixel;
        light += screen(dx * cos - dy * sin + width / 2, dx * sin + dy * cos + height / 2) ? 1 : 0;
      }
      // A dim screen in a lit room, with sensor noise.
      const noise = (((x * 7919 + y * 104729) % 17) - 8) * 0.75;
      const value = 45 + (light / (parts * parts)) * 160 + noise;
      data.set([value, value, value, 255], (y * columns + x) * 4);
    }
  }
  return { width: columns, height: rows, data };
}

/** A view of a frame, as the scanner draws it: the mean of the pixels around each point. */
function seen(frame: ReturnType<typeof picture>, view: View) {
  const width = Math.round(view.width * view.scale);
  const height = Math.round(view.height * view.scale);
  const data = new Uint8ClampedArray(width * height * 4);
  const at = (x: number, y: number) =>
    frame.data[
      (Math.min(Math.max(y, 0), frame.height - 1) * frame.width + Math.min(Math.max(x, 0), frame.width - 1)) * 4
    ] ?? 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [sx, sy] = [view.x + (x + 0.5) / view.scale - 0.5, view.y + (y + 0.5) / view.scale - 0.5];
      const [ix, iy] = [Math.floor(sx), Math.floor(sy)];
      const upper = at(ix, iy) * (1 - sx + ix) + at(ix + 1, iy) * (sx - ix);
      const lower = at(ix, iy + 1) * (1 - sx + ix) + at(ix + 1, iy + 1) * (sx - ix);
      const value = upper * (1 - sy + iy) + lower * (sy - iy);
      data.set([value, value, value, 255], (y * width + x) * 4);
    }
  }
  return { width, height, data };
}

const drawn = (name: string) =>
  readFileSync(new URL(`../../../../cli/internal/terminal/testdata/qr-${name}.txt`, import.meta.url), "utf8");

test.each(["small", "large"])("the %s QR code of a terminal is read from 1 m", { timeout: 120_000 }, (name) => {
  const shown = terminal(drawn(name));
  for (const shift of [0, 0.3, 0.5, 0.8]) {
    for (const tilt of [0, 3]) {
      const frame = picture(shown, shift, tilt);
      const texts = viewsOf(frame.width, frame.height).map((view) => textIn(seen(frame, view)));
      expect([shift, tilt, texts.find((text) => text !== null)]).toEqual([shift, tilt, link]);
    }
  }
});
