import type en from "./en/pairing.json";
import messages from "./en/pairing.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("pairing", messages);
