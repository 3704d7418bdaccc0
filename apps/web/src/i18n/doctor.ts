import type en from "./en/doctor.json";
import messages from "./en/doctor.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("doctor", messages);
