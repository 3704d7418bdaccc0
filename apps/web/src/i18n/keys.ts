import type en from "./en/keys.json";
import messages from "./en/keys.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("keys", messages);
