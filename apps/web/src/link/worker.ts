// The entry of the dedicated worker: keys, socket and seal live here, away from
// the page's own work.
import type { LinkPort } from "../api/messages";
import { serveLink } from "./service";

serveLink(self as unknown as LinkPort);
