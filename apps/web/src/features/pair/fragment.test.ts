// @vitest-environment node
import { describe, expect, it, vi } from "vitest";
import { takeFragment } from "./fragment";

function view(url: string) {
  const replaceState = vi.fn();
  const { pathname, search, hash } = new URL(url);
  const fake = { location: { pathname, search, hash }, history: { state: { key: 1 }, replaceState } };
  return { fake: fake as unknown as Window, replaceState };
}

describe("takeFragment", () => {
  it("takes the code and clears it from the address", () => {
    const { fake, replaceState } = view("https://relay.example/pair?x=1#7K3M-9QXR-2BTD");
    expect(takeFragment(fake)).toBe("7K3M-9QXR-2BTD");
    expect(replaceState).toHaveBeenCalledExactlyOnceWith({ key: 1 }, "", "/pair?x=1");
  });

  it("also clears a fragment that is not a code", () => {
    const { fake, replaceState } = view("https://relay.example/pair#%E0%A4%A");
    expect(takeFragment(fake)).toBe("%E0%A4%A");
    expect(replaceState).toHaveBeenCalledOnce();
  });

  it.each(["https://relay.example/pair", "https://relay.example/pair#", "https://relay.example/d/dev_x#top"])(
    "does not change %s",
    (url) => {
      const { fake, replaceState } = view(url);
      expect(takeFragment(fake)).toBeNull();
      expect(replaceState).not.toHaveBeenCalled();
    },
  );
});
