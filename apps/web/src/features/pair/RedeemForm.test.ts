// @vitest-environment node
import { describe, expect, it } from "vitest";
import { problemOf } from "./RedeemForm";

describe("problemOf", () => {
  it.each(["7K3M-9QXR-2BTD", "7k3m9qxr2btd", "7K3M 9QXR 2BTD", "OK3M-9QXI-2BTL"])("accepts %s", (code) => {
    expect(problemOf(code)).toBeNull();
  });

  it.each(["", "   ", "7K3M", "7K3M-9QXR-2BTD-1", "7K3M-9QXR-2BT!", "UK3M-9QXR-2BTD"])(
    "says what to do with %j",
    (code) => {
      expect(problemOf(code)).toMatch(/code/);
    },
  );
});
