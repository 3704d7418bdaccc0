// Scenes of the browser's own data: saved copies, a new version, and content that another app shared.
import { Store } from "../src/api/store";
import type { Requests } from "../src/api/types";
import { chat, dev, log, type Scene, world } from "./world";

const savedAt = Date.now() - 3 * 60 * 60 * 1000;

/** The machine cannot be reached, and its data is known from copies. */
function away(): Scene {
  const scorel = world();
  const host = scorel.host(dev);
  const { handlers, kept } = host;
  const keep = <K extends keyof Requests>(name: K, fields: Requests[K]["request"]) => {
    const value = handlers[name]?.(fields);
    kept[name] = { savedAt, value } as NonNullable<typeof kept>[K];
  };
  keep("get_host", {});
  keep("list_projects", {});
  keep("list_sessions", { projectId: "" });
  host.status.set("offline");
  return { scorel, path: `/d/${dev}` };
}

export const savedScenes: Record<string, () => Scene> = {
  saveddevice: away,
  savedcopy: chat((session, scorel) => {
    session.patch({ status: "reconnecting", savedAt, earlier: "some" });
    scorel.host(dev).status.set("connecting");
  }),
  savedoffline: chat((session, scorel) => {
    session.patch({ status: "offline", savedAt, earlier: "some" });
    scorel.host(dev).status.set("offline");
    session.patch({
      outgoing: [
        {
          clientKey: "k",
          text: "Then run the tests.",
          state: "device",
          mine: true,
          createdAt: savedAt,
          unstored: true,
        },
      ],
    });
  }, log()),
  update: () => ({
    scorel: world(),
    path: `/d/${dev}`,
    shell: { updated: new Store(true), update: () => {} },
  }),
  share: () => ({
    scorel: world(),
    path: `/share?title=${encodeURIComponent("Bounded queues")}&url=${encodeURIComponent("https://example.org/queues")}`,
  }),
};
