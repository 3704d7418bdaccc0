import type en from "./en/shared.json";
import messages from "./en/shared.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("shared", messages);
