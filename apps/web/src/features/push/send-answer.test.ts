import "../../app/testing/browser";
import { expect, test } from "vitest";
import type { NoticeAnswer } from "../../api/notices";
import type { Approval, Question } from "../../api/types";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { sendAnswer } from "./send-answer";

const base: NoticeAnswer = { id: "1", at: 0, device: "dev_one", session: "s", asks: "s" };
const allow: NoticeAnswer = { ...base, approval: "apr_1", shown: "hash", decision: "allow" };

function scene() {
  const scorel = new FakeScorel();
  const session = new FakeSession("s");
  scorel.host("dev_one").sessions.set("s", session);
  session.patchLive({
    approvals: [{ id: "apr_1", shown: "hash" } as Approval],
    questions: [{ id: "qst_1" } as Question],
  });
  return { scorel, session };
}

test("an answer is that of this browser to what was shown", async () => {
  const { scorel, session } = scene();
  expect(await sendAnswer(scorel, scorel.drafts.current, allow)).toBeNull();
  expect(session.answers).toMatchObject([{ approvalId: "apr_1", decision: "allow" }]);
});

test("what has changed or is over is not answered", async () => {
  const { scorel, session } = scene();
  expect(await sendAnswer(scorel, scorel.drafts.current, { ...allow, shown: "other" })).toContain("has changed");
  expect(await sendAnswer(scorel, scorel.drafts.current, { ...allow, approval: "apr_2" })).toContain("no longer waits");
  session.patch({ status: "missing" });
  expect(await sendAnswer(scorel, scorel.drafts.current, allow)).toContain("not available");
  session.patch({ status: "live" });
  session.answerWith = { won: false };
  expect(await sendAnswer(scorel, scorel.drafts.current, allow)).toContain("answered first");
  expect(session.answers).toHaveLength(1);
});

test("a reply answers the question, or is a prompt", async () => {
  const { scorel, session } = scene();
  expect(await sendAnswer(scorel, scorel.drafts.current, { ...base, question: "qst_1", reply: "blue" })).toBeNull();
  expect(session.replies).toMatchObject([{ questionId: "qst_1", answer: "blue" }]);
  expect(await sendAnswer(scorel, scorel.drafts.current, { ...base, reply: "and now the tests" })).toBeNull();
  expect(session.sent).toEqual(["and now the tests"]);
});

test("a reply that comes too late is in the message box", async () => {
  const { scorel } = scene();
  expect(await sendAnswer(scorel, scorel.drafts.current, { ...base, question: "qst_2", reply: "green" })).toContain(
    "message box",
  );
  expect(scorel.drafts.current.peek("dev_one/s")?.text).toBe("green");
});
