import "../../app/testing/browser";
import { readFileSync } from "node:fs";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, onTestFinished, test, vi } from "vitest";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { ScorelContext } from "../shared/scorel-context";
import { InstallHelp } from "./InstallHelp";

test("the commands of README.md install scorel and connect it to this relay, and can be copied", async () => {
  const writeText = vi.fn(async (_: string) => {});
  Object.assign(navigator, { clipboard: { writeText } });
  onTestFinished(() => void Reflect.deleteProperty(navigator, "clipboard"));
  const scorel = new FakeScorel();
  scorel.relayUrl.set("wss://relay.example");
  render(
    <ScorelContext value={scorel}>
      <InstallHelp />
    </ScorelContext>,
  );
  for (const button of screen.getAllByRole("button", { name: /^Copy / })) {
    fireEvent.click(button);
    await waitFor(() => expect(button.getAttribute("aria-label")).toBe("Copied"));
  }
  const [unix, windows, ...rest] = writeText.mock.calls.map(([command]) => command);
  const root = new URL("../../../../../", `file://${import.meta.dirname}/`);
  expect(readFileSync(new URL("README.md", root), "utf8")).toContain(`${unix}\n`);
  expect(readFileSync(new URL("docs/install.md", root), "utf8")).toContain(`${windows}\n`);
  expect(rest).toEqual(["scorel host serve --relay wss://relay.example", "scorel pair"]);
});
