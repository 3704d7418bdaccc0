// @vitest-environment node
import { beforeEach, describe, expect, it } from "vitest";
import { freshBrowser } from "../../../test-support/bench";
import { rows } from "../../../test-support/copies";
import { CopyStore } from "./store";

beforeEach(freshBrowser);

describe("the space for copies", () => {
  const limits = { copyBytes: 1000, bytes: 10_000, imageBytes: 500, sessionImageBytes: 250, sessions: 3, lists: 2 };
  const scope = (id: string) => ({ deviceId: "dev_a", projectId: "prj_1", id });

  async function storeAt(times: { now: number }, more: Partial<typeof limits> = {}) {
    return new CopyStore({ clientId: "cli_me", limits: { ...limits, ...more }, now: () => times.now++ });
  }

  it("is limited in sessions and lists: those that were not used for the longest time go", async () => {
    const store = await storeAt({ now: 1 });
    for (const id of ["a", "b", "c"]) {
      await store.write(scope(id), id);
    }
    await store.read("dev_a", "a");
    await store.write(scope("d"), "d");
    for (const id of ["list 1", "list 2", "list 3"]) {
      await store.write(scope(id), id);
    }
    expect((await rows()).map(({ id }) => id).sort()).toEqual(["a", "c", "d", "list 2", "list 3"]);
    store.close();
  });

  it("is limited in bytes", async () => {
    const store = await storeAt({ now: 1 }, { bytes: 250 });
    for (const id of ["a", "b", "c"]) {
      await store.write(scope(id), id.repeat(98));
    }
    expect((await rows()).map(({ id }) => id)).toEqual(["b", "c"]);
    store.close();
  });

  it("is limited in bytes of images, per session and in total, without displacing text", async () => {
    const store = await storeAt({ now: 1 });
    await store.write(scope("a"), "text");
    for (const id of ["image a 1", "image a 2", "image b 1"]) {
      await store.write(scope(id), "x".repeat(98));
    }
    await store.read("dev_a", "image a 1");
    await store.write(scope("image a 3"), "x".repeat(98));
    const ids = async () => (await rows()).map(({ id }) => id).sort();
    expect(await ids()).toEqual(["a", "image a 1", "image a 3", "image b 1"]);
    await store.write(scope("image c 1"), "x".repeat(98));
    await store.write(scope("image c 2"), "x".repeat(98));
    expect(await ids()).toEqual(["a", "image a 1", "image a 3", "image b 1", "image c 1", "image c 2"]);
    await store.write(scope("image d 1"), "x".repeat(98));
    expect(await ids()).toEqual(["a", "image a 1", "image a 3", "image c 1", "image c 2", "image d 1"]);
    await store.deleteAll("dev_a", "image c ");
    expect(await ids()).toEqual(["a", "image a 1", "image a 3", "image d 1"]);
    store.close();
  });

  it("makes room when it is full", async () => {
    const store = await storeAt({ now: 1 }, { sessions: 4, lists: 4 });
    for (const id of ["a", "b", "c", "d"]) {
      await store.write(scope(id), id);
    }
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    await expect(store.write(scope("e"), "e")).rejects.toThrow();
    IDBObjectStore.prototype.put = put;
    expect((await rows()).map(({ id }) => id)).toEqual(["c", "d"]);
    await store.write(scope("e"), "e");
    store.close();
  });
});
