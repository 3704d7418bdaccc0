import type en from "./en/api.json";
import messages from "./en/api.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("api", messages);
