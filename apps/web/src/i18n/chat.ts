import type en from "./en/chat.json";
import messages from "./en/chat.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("chat", messages);
