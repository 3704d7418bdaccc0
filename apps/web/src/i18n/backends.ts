import type en from "./en/backends.json";
import messages from "./en/backends.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("backends", messages);
