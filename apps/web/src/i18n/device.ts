import type en from "./en/device.json";
import messages from "./en/device.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("device", messages);
