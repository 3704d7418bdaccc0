import type en from "./en/access.json";
import messages from "./en/access.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("access", messages);
