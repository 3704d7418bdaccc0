import { afterEach, describe, expect, it } from "vitest";
import { hostInfo } from "../app/testing/builders";
import { sandboxWords } from "../features/shared/sandbox";
import { ago, clock } from "../features/shared/time";
import { tokens } from "../features/shared/tokens";
import { speak } from "./i18n";
import { chooseLanguage, chosenLanguage, languageFor, localeFor, speakChosen } from "./language";
import { t } from "./pair";
import chinese from "./zh";

const day = 24 * 60 * 60 * 1000;

afterEach(() => {
  chooseLanguage("");
  speak({ locale: "en", parts: {} });
});

describe("the language of the page", () => {
  it.each([
    ["", ["de-CH", "en-GB"], "en", "en-GB"],
    ["", ["zh-TW", "en-US"], "zh", "zh-TW"],
    ["", ["de"], "en", "en"],
    ["", [], "en", "en"],
    ["zh", ["en-US"], "zh", "zh-CN"],
    ["en", ["zh-CN", "en-AU"], "en", "en-AU"],
  ] as const)("is the chosen one (%s), or the first supported one of %s", (choice, preferred, language, locale) => {
    expect(languageFor(choice, preferred)).toBe(language);
    expect(localeFor(language, preferred)).toBe(locale);
  });

  it("is stored, and set on the document", async () => {
    chooseLanguage("zh");
    expect(chosenLanguage()).toBe("zh");
    await speakChosen(undefined, ["en-US"]);
    expect(document.documentElement.lang).toBe("zh-CN");
    expect(t("pair.pairPage.connectAMachine")).toBe("连接一台机器");
    chooseLanguage("");
    await speakChosen(undefined, ["en-US"]);
    expect(document.documentElement.lang).toBe("en");
    expect(t("pair.pairPage.connectAMachine")).toBe("Connect a machine");
  });

  it("is English if the translation does not load", async () => {
    await speakChosen(() => Promise.reject(new Error("offline")), ["zh-CN"]);
    expect(document.documentElement.lang).toBe("en");
    expect(clock(day, day)).toMatch(/AM|PM/);
  });

  it("determines the format of numbers, dates and lists", () => {
    speak({ ...chinese, locale: "zh-CN" });
    expect(tokens(12_345)).toBe("1.2万");
    expect(ago(0, 3 * 60_000)).toBe("3 分钟");
    expect(ago(12 * 60 * 60 * 1000, 40 * day)).toBe("1970年1月1日");
    const sandboxLimits = { network: "closed", writable: ["/tmp"] };
    const [first] = sandboxWords(hostInfo({ sandbox: "bubblewrap+landlock", sandboxLimits }))?.lines ?? [];
    expect(first).toBe("写入权限：仅限项目和/tmp。");
  });
});
