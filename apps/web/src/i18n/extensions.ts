import type en from "./en/extensions.json";
import messages from "./en/extensions.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("extensions", messages);
