// @vitest-environment node

import { fromBase64, toBase64 } from "@scorel/protocol/base64";
import { describe, expect, it } from "vitest";
import { ApiError, type Host } from "./contract";
import { fetchImage, imageType, namedImage, promptContent, uploadImage, withImages } from "./images";
import { ApiKind, MAX_BLOB_CHUNK } from "./types";

/** A GIF of one pixel, followed by n bytes. */
function gif(n: number): Blob {
  const head = new Uint8Array([0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0, 0, 0]);
  return new Blob([head, new Uint8Array(n), new Uint8Array([0x3b])]);
}

/** A host that keeps the uploaded bytes; it reports `received` at first. */
function host(received = 0): { asked: unknown[]; request: Host["request"]; bytes: () => number } {
  const asked: unknown[] = [];
  let has = received;
  const request = async (name: string, fields: Record<string, unknown>) => {
    asked.push(name);
    if (name !== "upload_blob") {
      return { state: "taken" };
    }
    if (typeof fields.data === "string" && (fields.offset ?? 0) === has) {
      has += fromBase64(fields.data).length;
    }
    return { received: has, ...(has === fields.size ? { image: { type: "image" } } : {}) };
  };
  return { asked, request: request as Host["request"], bytes: () => has };
}

describe("images of a prompt", () => {
  it("are recognized by their bytes", () => {
    expect(imageType(new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]))).toBe("image/png");
    expect(imageType(new TextEncoder().encode("<svg xmlns='http://www.w3.org/2000/svg'>"))).toBeNull();
    expect(imageType(new TextEncoder().encode("RIFF....WEBPVP8L"))).toBe("image/webp");
    expect(imageType(new Uint8Array())).toBeNull();
  });

  it("resume at the host's offset and report progress", async () => {
    const image = await namedImage(gif(2 * MAX_BLOB_CHUNK));
    const first = host(MAX_BLOB_CHUNK);
    const progress: number[] = [];
    await uploadImage(first, image, (done) => progress.push(done));
    expect(first.bytes()).toBe(image.blob.size);
    expect(first.asked).toHaveLength(3);
    expect(progress.at(-1)).toBe(1);
    expect(image.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it("are uploaded again, once, when the host has lost them", async () => {
    const image = await namedImage(gif(1));
    const there = host();
    let tries = 0;
    const send = async () => {
      if (++tries === 1) {
        throw new ApiError(ApiKind.not_found, "upload it again");
      }
      return "sent";
    };
    expect(await withImages(there, [image], () => {}, send)).toBe("sent");
    const lost = async () => {
      throw new ApiError(ApiKind.not_found, "no such session");
    };
    await expect(withImages(there, [image], () => {}, lost)).rejects.toThrow("no such session");
  });

  it("may be files, which are sent by name", async () => {
    const file = { ...(await namedImage(new Blob([new Uint8Array(MAX_BLOB_CHUNK + 1)]))), name: "a.zip" };
    const asked: Record<string, unknown>[] = [];
    let has = 0;
    const request = (async (_: string, fields: Record<string, unknown>) => {
      asked.push(fields);
      has += typeof fields.data === "string" ? fromBase64(fields.data).length : 0;
      return { received: has, ...(has === fields.size ? { complete: true } : {}) };
    }) as Host["request"];
    await uploadImage({ request }, file, () => {});
    expect(has).toBe(file.blob.size);
    expect(asked).toHaveLength(3);
    expect(asked.every((each) => each.file === true && each.sha256 === file.sha256)).toBe(true);
    expect(promptContent("look", [file])).toEqual({
      content: [
        { type: "text", text: "look" },
        { type: "file", sha256: file.sha256, name: "a.zip" },
      ],
    });
  });

  it("follow the text", async () => {
    const image = await namedImage(gif(1));
    expect(promptContent("look", [])).toEqual({ text: "look" });
    expect(promptContent(" ", [image])).toEqual({ content: [{ type: "image", sha256: image.sha256 }] });
    expect(promptContent("look", [image]).content?.[0]).toEqual({ type: "text", text: "look" });
  });

  it("are fetched in parts and shown only as their real type", async () => {
    const bytes = new Uint8Array(await gif(9).arrayBuffer());
    const part = (data: Uint8Array, next?: number) => ({
      mimeType: "image/svg+xml",
      size: bytes.length,
      data: toBase64(data),
      next,
    });
    const request = async (_: string, fields: { offset?: number }) =>
      fields.offset ? part(bytes.subarray(12)) : part(bytes.subarray(0, 12), 12);
    const asking = (answer: unknown, saved: unknown = null) =>
      ({ request: answer, recall: async () => saved }) as unknown as Pick<Host, "request" | "recall">;
    const blob = await fetchImage(asking(request), "ses", "hash");
    expect(blob.type).toBe("image/gif");
    expect(blob.size).toBe(bytes.length);
    const svg = async () => part(new TextEncoder().encode("<svg onload='alert(1)'>"));
    const away = () => Promise.reject(new Error("offline"));
    const kept = await fetchImage(asking(away, { value: part(bytes) }), "ses", "hash");
    expect(kept.size).toBe(bytes.length);
    await expect(fetchImage(asking(svg), "ses", "hash")).rejects.toThrow("This image cannot be shown.");
  });
});
