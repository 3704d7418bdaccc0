// @vitest-environment node
import { expect, it } from "vitest";
import { labelFrom } from "../../api/label";
import { codeIn } from "./scan";

const relay = "https://relay.example";

it.each([
  ["a pairing link of this relay", "https://relay.example/pair#7K3M-9QXR-2BTD", { code: "7K3M-9QXR-2BTD" }],
  ["a code", " 7k3m9qxr2btd\n", { code: "7k3m9qxr2btd" }],
  [
    "a pairing link of another relay",
    "https://evil.example/pair#7K3M-9QXR-2BTD",
    { otherRelay: "https://evil.example" },
  ],
  [
    "a relay on another port",
    "https://relay.example:8443/pair#7K3M-9QXR-2BTD",
    { otherRelay: "https://relay.example:8443" },
  ],
  ["a link without a code", "https://relay.example/pair", null],
  ["a link with something else", "https://relay.example/pair#<script>", null],
  ["another page of the relay", "https://relay.example/d/dev_x#7K3M-9QXR-2BTD", null],
  ["a script", "javascript:alert(1)//pair#7K3M-9QXR-2BTD", null],
  ["any text", "WIFI:S:home;P:secret;;", null],
])("%s", (_, text, want) => {
  expect(codeIn(text, relay)).toEqual(want);
});

it.each([
  ["  Anna's\n phone\u202e ", "Anna's phone"],
  ["\u0000\t", ""],
  ["x".repeat(80), "x".repeat(64)],
  ["😀".repeat(20), "😀".repeat(16)],
])("the name %j becomes the label %j", (typed, label) => {
  expect(labelFrom(typed)).toBe(label);
});
