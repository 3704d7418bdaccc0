// @vitest-environment node
import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import { describe, expect, it } from "vitest";
import { translator } from "./i18n";
import type { Message } from "./message";

describe("a message", () => {
  const compile = (text: string) => compileMessageOrThrow(text) as Message;
  const t = translator<"run" | "lines" | "files">("test", {
    run: compile("Run {command}"),
    lines: compile("{n} {n, plural, one {line} other {lines}}"),
    files: compile("{n, plural, =0 {No files} one {{name} only} other {{name} and others}}"),
  });

  it.each(["printf '\\u202e'", "printf '\\x1b[2J'", "C:\\temp", "{n} # <b>"])("shows %s as it is", (command) => {
    expect(t("run", { command })).toBe(`Run ${command}`);
  });

  it("counts", () => {
    expect([1, 2, 1300].map((n) => t("lines", { n }))).toEqual(["1 line", "2 lines", "1,300 lines"]);
  });

  it("has values within its plurals", () => {
    expect([0, 1, 2].map((n) => t("files", { n, name: "a.go" }))).toEqual(["No files", "a.go only", "a.go and others"]);
  });
});
