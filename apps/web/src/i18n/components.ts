import type en from "./en/components.json";
import messages from "./en/components.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("components", messages);
