import "../../app/testing/browser";
import { act, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Device } from "../../api/contract";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { ScorelContext } from "../shared/scorel-context";
import { PresenceBadge, PresenceWord } from "./Presence";

const device = (more: Partial<Device> = {}): Device => ({ id: "dev_one", label: "workshop", online: true, ...more });

function show(shown: Device) {
  const scorel = new FakeScorel();
  render(
    <ScorelContext value={scorel}>
      <PresenceBadge device={shown} />
      <div data-testid="word">
        <PresenceWord device={shown} />
      </div>
    </ScorelContext>,
  );
  const lose = () => act(() => scorel.link.set({ state: "connecting", attempt: 0, retryAt: null, lastError: null }));
  const find = () => act(() => scorel.link.set({ state: "online" }));
  return { scorel, lose, find };
}

const badge = () => screen.getByTestId("device-status");

test.each([true, false])("the known state of a device, online: %s, is unknown without the relay", (online) => {
  const { lose, find } = show(device({ online }));
  const before = online ? "online" : "offline";
  expect(badge().dataset.state).toBe(before);
  expect(badge().querySelector(".pulse-dot") !== null).toBe(online);
  lose();
  expect(badge().dataset.state).toBe("unknown");
  expect(badge().querySelector(".bg-accent, .bg-accent-soft, .pulse-dot")).toBeNull();
  for (const place of [badge(), screen.getByTestId("word")]) {
    expect(place.textContent).toContain("unknown");
    expect(place.querySelector(".sr-only")?.textContent).toContain(`Last known: ${before}`);
  }
  find();
  expect(badge().dataset.state).toBe(before);
});

test("after a refused login the state is unknown too", () => {
  const { scorel } = show(device());
  act(() => scorel.link.set({ state: "refused", message: "no" }));
  expect(badge().dataset.state).toBe("unknown");
});

test.each([
  [{ revoked: true }, "removed"],
  [{ problem: "Other keys." }, "unusable"],
])("%o stays the same without the relay", (more, state) => {
  const { lose } = show(device(more));
  expect(badge().dataset.state).toBe(state);
  lose();
  expect(badge().dataset.state).toBe(state);
});
