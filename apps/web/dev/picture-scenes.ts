// Prompts that carry images.
import { emptyLive } from "../src/api/projection";
import { assistant, user } from "../src/app/testing/builders";
import type { FakeScorel, FakeSession } from "../src/app/testing/fake-scorel";
import { chat, dev, type Scene } from "./world";

const compare = [{ type: "text" as const, text: "What is wrong in the second screenshot?" }];

function photo(name: string, width: number, height: number) {
  return { type: "image" as const, data: "", mimeType: "image/png", sha256: name.repeat(64), size: 900, width, height };
}

/** Prompts with images: in the log, rejected, and in the queue. The model accepts none. */
function pictures(session: FakeSession, scorel: FakeScorel): void {
  const host = scorel.host(dev);
  host.handlers.get_blob = ({ sha256 }) => ({
    mimeType: "image/png",
    size: 900,
    data: sha256.startsWith("a") ? drawn(640, 400, "#1f7a5c") : drawn(300, 520, "#b3541e"),
  });
  host.handlers.rewind_session = () => ({
    leafId: "e0",
    text: "What is wrong in the second screenshot?",
    content: [...compare, photo("a", 640, 400), photo("b", 300, 520)],
  });
  const content = [{ type: "text" as const, text: "And this one?" }, photo("a", 640, 400), photo("b", 300, 520)];
  const waiting = {
    clientKey: "q1",
    text: "And this one?",
    images: content.slice(1) as never,
    mine: true,
    createdAt: 0,
  };
  session.patch({
    live: {
      ...emptyLive(),
      queue: [{ clientKey: "q1", clientId: "cli_me", text: "And this one?", queuedAt: 0, content }],
    },
    outgoing: [
      { ...waiting, state: "host" },
      {
        ...{ ...waiting, clientKey: "f1", text: "Is it the same on a phone?", state: "failed" },
        error: "The model main does not accept images: choose another model.",
      },
    ],
  });
}

/** Returns a picture of a page, as base64. */
function drawn(width: number, height: number, color: string): string {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const pen = canvas.getContext("2d");
  if (!pen) {
    throw new Error("no canvas");
  }
  pen.fillStyle = color;
  pen.fillRect(0, 0, width, height);
  pen.fillStyle = "#fff";
  for (let y = 40; y < height - 40; y += 36) {
    pen.fillRect(32, y, (width - 64) * (0.5 + ((y * 7) % 50) / 100), 14);
  }
  return canvas.toDataURL("image/png").split(",")[1] ?? "";
}

export const pictureScenes: Record<string, () => Scene> = {
  pictures: chat(pictures, [
    user("", {
      message: {
        role: "user",
        content: [...compare, photo("a", 640, 400), photo("b", 300, 520)],
        timestamp: Date.now(),
      } as never,
    }),
    assistant("The second one cuts the heading off: its container is 300 px wide and the heading does not wrap."),
  ]),
};
