// @vitest-environment node
import { describe, expect, it } from "vitest";
import { crumbs } from "./paths";

describe("crumbs", () => {
  it.each([
    ["/", [["/", "/"]]],
    [
      "/home/ada",
      [
        ["/", "/"],
        ["home", "/home"],
        ["ada", "/home/ada"],
      ],
    ],
    [
      "C:\\Users\\ada",
      [
        ["C:\\", "C:\\"],
        ["Users", "C:\\Users"],
        ["ada", "C:\\Users\\ada"],
      ],
    ],
    [
      "/odd\\name/x",
      [
        ["/", "/"],
        ["odd\\name", "/odd\\name"],
        ["x", "/odd\\name/x"],
      ],
    ],
  ])("%s", (path, want) => {
    expect(crumbs(path).map((crumb) => [crumb.name, crumb.path])).toEqual(want);
  });
});
