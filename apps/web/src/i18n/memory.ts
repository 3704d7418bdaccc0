import type en from "./en/memory.json";
import messages from "./en/memory.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("memory", messages);
