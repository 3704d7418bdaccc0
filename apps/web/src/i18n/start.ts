import type en from "./en/start.json";
import messages from "./en/start.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("start", messages);
