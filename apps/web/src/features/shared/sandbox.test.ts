// @vitest-environment node
import { expect, test } from "vitest";
import type { HostInfo } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { sandboxWords } from "./sandbox";

const words = (more: Partial<HostInfo>) => sandboxWords(hostInfo(more));

test("a machine that reports no sandbox state has no texts", () => {
  expect(words({})).toBeNull();
});

test("a missing sandbox is stated plainly, with its reason", () => {
  const none = words({ sandbox: "none", sandboxNote: "bubblewrap is not installed" });
  expect(none?.strength).toBe("none");
  expect(none?.title).toBe("Commands run without a sandbox");
  expect(none?.lines).toContain("Reason: bubblewrap is not installed.");
});

test.each<[string, string[], RegExp]>([
  ["open", [], /^Write access: the project only\. Network access: yes\./],
  ["closed", ["/tmp"], /^Write access: the project and \/tmp only\. Network access: no\./],
  [
    "no_tcp",
    ["/tmp", "/data"],
    /^Write access: the project, \/tmp, and \/data only\. Network access: everything except TCP\./,
  ],
  ["someday", [], /Network access: someday\./],
])("what commands can access: %s", (network, writable, text) => {
  const full = words({ sandbox: "bubblewrap+landlock", sandboxLimits: { network, writable } });
  expect(full?.strength).toBe("full");
  expect(full?.lines.join(" ")).toMatch(text);
  expect(full?.lines.at(-1)).toContain("Not restricted");
});

test("a weak sandbox shows its gaps, and what is exposed or missing", () => {
  const weak = words({
    sandbox: "landlock",
    sandboxLimits: { network: "open", writable: ["/home/ada"], exposed: ["/home/ada/.scorel"], missing: ["/gone"] },
  });
  expect(weak?.strength).toBe("weak");
  expect(weak?.lines.join(" ")).toContain("read scorel's own folder");
  expect(weak?.lines).toContain("/gone, where commands may write, does not exist: create it if they need it.");
  expect(weak?.warnings).toEqual([
    "Commands can change /home/ada/.scorel, with scorel's keys. Remove the folder around it from sandbox.writable.",
  ]);
});

test("a host that runs as root gets a warning, stronger without a strong sandbox", () => {
  const sandboxLimits = { network: "open", writable: [] };
  const strong = words({ sandbox: "bubblewrap+landlock", sandboxLimits, runsAsRoot: true });
  expect(strong?.warnings).toEqual(["The host runs as root. Run it as an ordinary user."]);
  for (const weak of [
    words({ sandbox: "landlock", sandboxLimits, runsAsRoot: true }),
    words({ sandbox: "none", runsAsRoot: true }),
  ]) {
    expect(weak?.warnings.join()).toContain("“Auto” asks");
  }
});
