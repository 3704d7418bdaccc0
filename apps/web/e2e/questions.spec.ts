import { expect, test } from "./harness";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const ask = (question: string, choices: unknown[] = []) => `use clarify ${JSON.stringify({ question, choices })}`;

test("a question is shown to all and answered once, also after a reload", async ({ visitor }) => {
  const anna = await visitor(phone);
  await anna.settle();
  const ben = await visitor();
  await ben.pair();
  await ben.at("session-row").click();
  await expect(ben.at("composer")).toBeEnabled();

  await anna.prompt(ask("Which lamp?", ["the old one", { label: "the new one" }]));
  for (const each of [anna, ben]) {
    await expect(each.at("question-card")).toContainText("Which lamp?");
  }
  await anna.page.reload();
  await expect(anna.at("question-choice")).toHaveText([/the old one/, /the new one/]);
  await anna.at("question-choice").last().tap();
  for (const each of [anna, ben]) {
    await expect(each.at("question-card")).toHaveCount(0);
  }
  await anna.rest();
  const [asked, answered] = anna.log().filter((line) => line.customType === "scorel.question");
  expect(asked?.data).toMatchObject({ request: { question: "Which lamp?", choices: ["the old one", "the new one"] } });
  expect(answered?.data).toMatchObject({ outcome: "answered", answer: "the new one", answeredBy: anna.clientId });
  await ben.at("tool-card").getByRole("button").first().click();
  await expect(ben.at("tool-card")).toContainText("answered: the new one");

  await ben.prompt(ask("And then?"));
  await ben.at("question-answer").fill("nothing more");
  await ben.at("question-send").click();
  await ben.rest();
  expect(anna.log().filter((line) => line.data?.answer === "nothing more")).toHaveLength(1);
  await expect(async () => expect(await anna.said()).toEqual(await ben.said())).toPass();
});

test("the link to a question does not cover it, and a stopped turn withdraws it", async ({ visitor }) => {
  const anna = await visitor(phone);
  await anna.settle();
  await anna.prompt("stream 600");
  await anna.rest();
  await anna.prompt(ask("How shall it go on?", ["one", "two", "three", "four"]));
  await expect(anna.at("question-card")).toBeVisible();
  // While a part of the card is visible, no link is shown.
  await anna.box.evaluate((box) => box.scrollBy(0, -120));
  await expect(anna.at("question-card")).toBeInViewport();
  await expect(anna.at("to-card")).toHaveCount(0);
  await anna.box.evaluate((box) => box.scrollBy(0, -2000));
  const button = await anna.at("to-card").boundingBox();
  const box = await anna.page.locator("section[aria-label=Transcript]").boundingBox();
  expect((button?.y ?? 0) >= (box?.y ?? 0) + (box?.height ?? 0)).toBe(true);
  await anna.at("to-card").tap();
  await expect(anna.at("to-card")).toHaveCount(0);
  await anna.at("cancel-turn").tap();
  await anna.rest();
  await expect(anna.at("question-card")).toHaveCount(0);
});
