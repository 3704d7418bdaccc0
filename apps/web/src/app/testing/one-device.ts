import type { Project, SessionSummary } from "../../api/types";
import { hostInfo, project } from "./builders";
import { FakeScorel, type FakeSession } from "./fake-scorel";
import { renderApp } from "./render-app";

export const dev = "dev_one";

/** Creates a browser that knows one device. */
export function world(projects: Project[] = [project("p1", "/home/ada/scorel")], sessions: SessionSummary[] = []) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: dev, label: "workshop", online: true }]);
  const host = scorel.host(dev);
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects });
  host.handlers.list_sessions = () => ({ sessions });
  host.handlers.list_clients = () => ({ clients: [] });
  return { scorel, host };
}

/** Renders one session of that device. */
export function chat(session: FakeSession) {
  const { scorel, host } = world();
  host.sessions.set(session.sessionId, session);
  renderApp(scorel, `/d/${dev}/s/${session.sessionId}`);
  return { scorel, host };
}
