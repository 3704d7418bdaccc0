import type en from "./en/push.json";
import messages from "./en/push.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("push", messages);
