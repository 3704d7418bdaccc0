// @vitest-environment node
import { describe, expect, it } from "vitest";
import { filePlace, mentionsIn } from "./file-place";

const folder = "/home/ada/site";
const place = (path: string, line = 0, end = line) => ({ path, line, end });

describe("a text that names a file", () => {
  it.each([
    ["client.go:42", place("client.go", 42)],
    ["src/app/main.tsx:12:3", place("src/app/main.tsx", 12)],
    ["src/app/main.tsx", place("src/app/main.tsx")],
    ["./src/a.rs:7:", place("src/a.rs", 7)],
    ["a.py:10-20", place("a.py", 10, 20)],
    ["a.py:20-10", place("a.py", 20)],
    ["docs/x.md#L4", place("docs/x.md", 4)],
    ["docs/x.md#L4-L9", place("docs/x.md", 4, 9)],
    ["/home/ada/site/lib/b.c:1", place("lib/b.c", 1)],
    ["routes/$id/[slug]/(group)/page+layout.tsx", place("routes/$id/[slug]/(group)/page+layout.tsx")],
    ["文档/说明.md:3", place("文档/说明.md", 3)],
    ["cmd/Dockerfile", place("cmd/Dockerfile")],
    ["Makefile:12", place("Makefile", 12)],
    ["src/.env", place("src/.env")],
  ])("%s", (text, expected) => {
    expect(filePlace(text, folder)).toEqual(expected);
  });

  it.each([
    // Outside the folder.
    ...["../x.go", "src/../../x.go:1", "/etc/passwd", "/etc/passwd.txt:3", "/home/ada/site", "/home/ada/site2/a.go:1"],
    ...["~/x.go", "~/.ssh/config.toml", "//host/a.go", "a//b.go"],
    // Not a path.
    ...["fmt.Println", "client.Close", "console.log", "v1.2.3", "Node.js", "127.0.0.1:80", "localhost:8080", "e.g."],
    ...["example.com:443", "https://example.org/a.go:1", "javascript:alert(1)", "file:///etc/passwd", "and/or", ".go"],
    ...["origin/main", "application/json", "git log -p client.go", "-rf.go\u0000", "a b.go", "src\\a.go", "x.go:", ""],
    // Names that look like something else, or that a page might run.
    ...["a\u202Eog.b", "a\u200B.go", "src/a\n.go:1", "<img src=x>.go:1", "src/`a`.go", `${"a/".repeat(200)}b.go`],
  ])("is not %j", (text) => {
    expect(filePlace(text, folder)).toBeNull();
  });

  it("accepts no absolute path while the folder is unknown", () => {
    expect(filePlace("/home/ada/site/a.go:1", "")).toBeNull();
    expect(filePlace("a.go:1", "")).toEqual(place("a.go", 1));
    expect(filePlace("/a.go:1", "/")).toBeNull();
  });
});

describe("an output", () => {
  it("has links where it names lines of files", () => {
    const text =
      "src/a.ts:3: x\n    b_test.go:12: want 1\n--> (src/m.rs:5:9)\nat 12:30:10, http://x.org:80/a.go:1, a.go";
    const parts = mentionsIn(text, folder, 10);
    expect(parts.map((part) => (typeof part === "string" ? part : part.text)).join("")).toBe(text);
    expect(parts.flatMap((part) => (typeof part === "string" ? [] : [part.place]))).toEqual([
      place("src/a.ts", 3),
      place("b_test.go", 12),
      place("src/m.rs", 5),
    ]);
  });

  it("has a bounded number of links, and is fast for hostile text", () => {
    expect(mentionsIn("a.go:1\n".repeat(50), folder, 3).filter((part) => typeof part !== "string")).toHaveLength(3);
    const began = performance.now();
    for (const text of ["a", "[", "a:", "(/", "a.go:1"]) {
      mentionsIn(text.repeat(100_000 / text.length), folder, 500);
      filePlace(text.repeat(150 / text.length), folder);
    }
    expect(performance.now() - began).toBeLessThan(2000);
  });
});
