import type en from "./en/pair.json";
import messages from "./en/pair.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("pair", messages);
