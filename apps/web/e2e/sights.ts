import { automationSights } from "./automation-sights";
import { changesSights } from "./changes-sights";
import { composerSights } from "./composer-sights";
import { inboxSights } from "./inbox-sights";
import { machineSights } from "./machine-sights";
import { projectSights } from "./project-sights";
import { sessionSights } from "./session-sights";
import type { Sight } from "./sight";

const plain = [
  ...["pair", "unsupported", "refused", "devices", "devicesunknown", "foreigndevices", "unknowndevice"],
  ...["inboxmany", "inboxnomatch", "inboxempty", "inboxold", "inboxoffline"],
  ...["devicewaiting", "saveddevice", "savedcopy", "savedoffline", "update", "share"],
  ...[
    "device",
    "archived",
    "noproject",
    "start",
    "startwaiting",
    "startrevoked",
    "deviceoffline",
    "devicerevoked",
    "foreigndevice",
  ],
  ...["connection", "connectiondown", "connectionoffline", "connectionwarn", "connectionrunning", "connectionpaths"],
  ...[
    "chat",
    "empty",
    "loading",
    "missing",
    "revoked",
    "offline",
    "damaged",
    "working",
    "retrying",
    "error",
    "demo",
    "versions",
  ],
  ...["limiteddevice", "expireddevice", "expiredsession", "limitedterminal"],
  ...["approval", "approvals", "question", "serverasks", "crowd", "crewdone", "hugediff", "watching", "notes"],
];

const alike = [
  ...["revoked", "damaged", "working", "error", "offline", "approval", "question", "crewdone", "watching"],
  ...["saveddevice", "savedcopy", "update"],
  ...["connection", "connectionoffline", "connectionrunning", "deviceoffline", "devices", "device"],
];

/** Every page and state to check. */
export const sights: Sight[] = [
  ...plain.map((scene) => ({ name: scene, scene, alike: alike.includes(scene) })),
  ...inboxSights,
  ...sessionSights,
  ...composerSights,
  ...changesSights,
  ...machineSights,
  ...projectSights,
  ...automationSights,
];
