import { readdirSync, readFileSync } from "node:fs";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { ApiError, OfflineError } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { withHelp } from "./with-help";

describe("withHelp", () => {
  afterEach(cleanup);
  const page = readFileSync("../../docs/troubleshooting.md", "utf8");

  it("links each kind of error to its section", () => {
    for (const [name, kind] of Object.entries(ApiKind)) {
      render(<p>{withHelp(new ApiError(kind, "this is over a limit"))}</p>);
      screen.getByText(/This is over a limit/);
      expect(screen.getByRole("link", { name: "Help" }).getAttribute("href")).toBe(`/docs/troubleshooting#${name}`);
      expect(page).toContain(`\n### \`${name}\`\n`);
      cleanup();
    }
  });

  it("links a kind of a newer host to the section about those", () => {
    render(<p>{withHelp(new ApiError(999, "new"))}</p>);
    expect(screen.getByRole("link").getAttribute("href")).toBe("/docs/troubleshooting#unknown");
  });

  it("has no link where no host answered", () => {
    render(<p>{withHelp(new OfflineError("offline"))}</p>);
    expect(screen.queryByRole("link")).toBeNull();
  });
});

// Files that show the sentence alone: errors of this browser, and texts that cannot have links.
const textOnly = [
  "chat/images/use-attachments.ts",
  "project/RuleForm.tsx",
  "push/PushSection.tsx",
  "push/send-answer.ts",
];

it("is how every error is shown", () => {
  const files = readdirSync("src/features", { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.tsx?$/.test(file) && !file.includes(".test.") && !file.startsWith("shared/"),
  );
  expect(files.length).toBeGreaterThan(200);
  const bare = files.filter((file) => /\bsentence\(/.test(readFileSync(`src/features/${file}`, "utf8")));
  expect(bare.sort()).toEqual(textOnly);
});
