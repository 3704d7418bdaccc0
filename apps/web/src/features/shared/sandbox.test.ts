import { expect, test } from "vitest";
import type { HostInfo } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { sandboxWords } from "./sandbox";

const words = (more: Partial<HostInfo>) => sandboxWords(hostInfo(more));

test("a machine that tells nothing of a sandbox has no words", () => {
  expect(words({})).toBeNull();
});

test("no sandbox is said plainly, with its reason", () => {
  const none = words({ sandbox: "none", sandboxNote: "bubblewrap is not installed" });
  expect(none?.strength).toBe("none");
  expect(none?.title).toBe("Commands run without a sandbox");
  expect(none?.lines).toContain("Why: bubblewrap is not installed.");
});

test.each<[string, string[], RegExp]>([
  ["open", [], /^They write to the project and nowhere else\. They reach the network\./],
  ["closed", ["/tmp"], /^They write to the project and \/tmp only\. They do not reach the network\./],
  ["no_tcp", ["/tmp", "/data"], /^They write to the project, \/tmp and \/data only\. They cannot use TCP\./],
  ["someday", [], /Their network: someday\./],
])("what commands reach: %s", (network, writable, text) => {
  const full = words({ sandbox: "bubblewrap+landlock", sandboxLimits: { network, writable } });
  expect(full?.strength).toBe("full");
  expect(full?.lines.join(" ")).toMatch(text);
  expect(full?.lines.at(-1)).toContain("does not hold back");
});

test("a weak sandbox says what it leaves open, and what is exposed or missing", () => {
  const weak = words({
    sandbox: "landlock",
    sandboxLimits: { network: "open", writable: ["/home/ada"], exposed: ["/home/ada/.scorel"], missing: ["/gone"] },
  });
  expect(weak?.strength).toBe("weak");
  expect(weak?.lines.join(" ")).toContain("read scorel's own folder");
  expect(weak?.lines).toContain("/gone stands in sandbox.writable and is not there.");
  expect(weak?.warnings).toEqual([
    "They can change /home/ada/.scorel, with scorel's keys. Take the folder around it out of sandbox.writable.",
  ]);
});
