import type en from "./en/link.json";
import messages from "./en/link.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("link", messages);
