import type en from "./en/hooks.json";
import messages from "./en/hooks.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("hooks", messages);
