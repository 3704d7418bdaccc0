import type en from "./en/devices.json";
import messages from "./en/devices.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("devices", messages);
