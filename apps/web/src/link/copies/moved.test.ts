// @vitest-environment node
import { expect, it } from "vitest";
import type { OutboxItem } from "../../api/outbox";
import { ApiKind } from "../../api/types";
import { carryPrompts } from "./moved";

const item = (clientKey: string, fields: Partial<OutboxItem> = {}): OutboxItem => ({
  ...{ clientKey, deviceId: "dev_a", sessionId: "s1", text: clientKey, createdAt: 1, error: null },
  ...fields,
});

it("addresses the prompts of a moved session to its new device, with the same keys", async () => {
  const items = [
    item("waits", { projectId: "p1" }),
    item("paused", { error: "the session is being moved", kind: ApiKind.unavailable }),
    item("refused", { error: "too large", kind: ApiKind.too_large }),
    item("of another session", { sessionId: "s2" }),
    item("of another device", { deviceId: "dev_c" }),
  ];
  const after: OutboxItem[] = [];
  const update = async (clientKey: string, change: (before: OutboxItem) => OutboxItem) => {
    const before = items.find((each) => each.clientKey === clientKey) as OutboxItem;
    after.push(change(before));
    return null;
  };
  await carryPrompts({ items, update }, { from: "dev_a", sessionId: "s1", to: "dev_b" });
  expect(after.map(({ clientKey, deviceId, error }) => [clientKey, deviceId, error])).toEqual([
    ["waits", "dev_b", null],
    ["paused", "dev_b", null],
    ["refused", "dev_b", "too large"],
  ]);
  expect(after[0]).not.toHaveProperty("projectId");
});
