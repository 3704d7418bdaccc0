// Scenes of browsers with limited access: their limits, and what they see themselves.
import { ApiError } from "../src/api/contract";
import { ApiKind, type Client } from "../src/api/types";
import { hostInfo } from "../src/app/testing/builders";
import { chat, dev, type Scene, world } from "./world";

const hour = 60 * 60_000;

function clients(now: number): Client[] {
  return [
    {
      id: "cli_me",
      label: "Chrome on Linux",
      grants: ["view", "prompt", "approve", "manage", "files"],
      pairedAt: now - 40 * hour,
      online: true,
    },
    {
      id: "cli_7k2mq4zv5w3x6y2a",
      label: "Grace’s tablet",
      grants: ["view", "prompt"],
      pairedAt: now - 3 * hour,
      online: true,
      projects: ["p1", "p2"],
      expiresAt: now + 5 * hour,
    },
    {
      id: "cli_contractor",
      label: "Firefox on Windows",
      grants: ["view", "prompt", "approve", "files"],
      pairedAt: now - 90 * hour,
      online: false,
      lastSeen: now - 2 * hour,
      expiresAt: now - hour,
    },
    {
      id: "cli_guest",
      label: "Guest link",
      grants: ["view"],
      pairedAt: now - 91 * hour,
      online: false,
      sessionId: "s3",
    },
  ];
}

function limitedHost() {
  const scorel = world();
  const host = scorel.host(dev);
  host.handlers.get_host = () => ({
    host: hostInfo({
      deviceId: dev,
      grants: ["view", "manage"],
      limits: { projects: ["p1"], expiresAt: Date.now() + 5 * hour },
    }),
  });
  const all = host.handlers.list_projects;
  host.handlers.list_projects = async (fields) => {
    const projects = (await all?.(fields))?.projects ?? [];
    return { projects: projects.filter(({ id }) => id === "p1") };
  };
  host.handlers.list_terminals = () =>
    Promise.reject(new ApiError(ApiKind.not_allowed, "this connection does not have the grant"));
  return scorel;
}

export const accessScenes: Record<string, () => Scene> = {
  access: () => {
    const scorel = world();
    const now = Date.now();
    scorel.host(dev).handlers.list_clients = () => ({ clients: clients(now) });
    return { scorel, path: `/d/${dev}` };
  },
  shared: chat((_, scorel) => {
    const now = Date.now();
    const link = { grants: ["view" as const], sessionId: "s1", online: false };
    const host = scorel.host(dev);
    host.handlers.list_clients = () => ({
      clients: [
        ...clients(now),
        { ...link, id: "cli_guest2", label: "Anna", pairedAt: now - hour, online: true, expiresAt: now + 23 * hour },
        { ...link, id: "cli_guest3", label: "Weekly review", pairedAt: now - 30 * hour, lastSeen: now - 20 * hour },
        { ...link, id: "cli_guest4", label: "Guest", pairedAt: now - 31 * hour, expiresAt: now + 2 * hour },
      ],
    });
    host.handlers.list_paths = () => ({
      paths: [
        { kind: "relay", url: "https://relay.example", state: "connected" },
        { kind: "network", url: "http://192.168.1.20:7475", state: "off" },
      ],
      proof: { signedAt: now, signature: "" },
    });
  }),
  limiteddevice: () => ({ scorel: limitedHost(), path: `/d/${dev}` }),
  limitedterminal: () => ({ scorel: limitedHost(), path: `/d/${dev}/terminal` }),
  expireddevice: () => {
    const scorel = world();
    scorel.host(dev).status.set("expired");
    return { scorel, path: `/d/${dev}` };
  },
  expiredsession: chat((session, scorel) => {
    scorel.host(dev).status.set("expired");
    session.patch({ status: "expired", savedAt: Date.now() - hour });
  }),
};
