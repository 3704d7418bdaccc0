import { describe, expect, test } from "vitest";
import answers from "../../testdata/vectors/answers.json";
import chain from "../../testdata/vectors/chain.json";
import { answerMessage, shownDigest, signAnswer } from "../src/answer.ts";
import { type Bytes, fromBase64url, toBase64url, utf8 } from "../src/base64.ts";
import { firstBroken, headMessage, splitChain, splitHead } from "../src/chain.ts";
import type { Approval, Decision } from "../src/gen/api.ts";
import { verifySignature } from "../src/ident.ts";
import { hex, identityOf, toHex } from "./keys.ts";

describe("chain", () => {
  test.each(chain.cases)("$why", ({ file, broken }) => {
    expect(firstBroken(utf8(file))).toBe(broken);
  });

  test("every changed bit of a chained line is found", () => {
    const whole = utf8(chain.cases[0]?.file ?? "");
    const first = whole.indexOf(0x0a, whole.indexOf(0x0a) + 1) + 1;
    for (let at = first; at < whole.length; at++) {
      const changed = whole.slice();
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      expect(firstBroken(changed)).not.toBe(0);
    }
  });

  test("the last line has a head of the device", async () => {
    const lines = (chain.cases[0]?.file ?? "").trimEnd().split("\n").map(utf8);
    const before = splitChain(lines.at(-2) as Bytes);
    const last = splitChain(lines.at(-1) as Bytes);
    const head = last && splitHead(last.covered);
    if (!before || !head) {
      throw new Error("no head");
    }
    expect(toBase64url(head.signKey)).toBe(chain.device.signKey);
    expect(toBase64url(head.sealKey)).toBe(chain.device.sealKey);
    const message = headMessage("ses_1", before.value, head.body);
    expect(toHex(message)).toBe(chain.headMessage);
    expect(toHex(head.signature)).toBe(chain.headSignature);
    expect(await verifySignature(head.signKey, message, head.signature)).toBe(true);
  });
});

describe("answers", () => {
  test.each(answers.cases)("$why", async (c) => {
    const me = await identityOf(answers.client);
    const answer = {
      deviceId: answers.device.id,
      sessionId: c.sessionId,
      approval: c.approval as Approval,
      decision: c.decision as Decision,
      feedback: c.feedback,
      at: c.at,
    };
    expect(toBase64url(shownDigest(answer.approval))).toBe(c.shown);
    expect(toHex(answerMessage(answer, me.id))).toBe(c.message);
    expect(await signAnswer(me, answer)).toEqual(c.signature);
    const value = fromBase64url(c.signature.value);
    expect(await verifySignature(me.signKey, hex(c.message), value)).toBe(true);
  });
});
