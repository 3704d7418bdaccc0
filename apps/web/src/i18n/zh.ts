// The whole Chinese translation: one chunk that only its readers load.
import doctor from "../api/doctor-words.zh.json";
import type { Messages } from "./message";

const files = import.meta.glob<Messages>("./zh/*.json", { query: "?messages", import: "default", eager: true });

const parts = Object.fromEntries(
  Object.entries(files).map(([file, messages]) => [file.slice("./zh/".length, -".json".length), messages]),
);

export default { parts, doctor };
