import { expect, test } from "./harness";

test.use({ options: { parts: "none" } });

test("a phone sends the first prompt to a scorel that was just installed", async ({ visitor }) => {
  const link = process.env.SCOREL_LINK;
  if (!link) {
    throw new Error("SCOREL_LINK must be the link that `scorel up` printed: .ci/released sets it");
  }
  const phone = await visitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await phone.page.goto(link);
  await phone.startSession();
  await phone.prompt("stream 3");
  await expect(phone.page.getByText("word1 word2 word3")).toBeVisible();
});
