import { useState } from "react";
import type { Host, NewSession } from "../../api/contract";
import type { AgentInfo, Backend, HostInfo, Mode } from "../../api/types";
import { useHostQuery } from "../shared/host-queries";
import { rememberedModel, rememberModel } from "../shared/model-memory";
import { highestMode, modes, rankOf } from "../shared/modes";

export interface Choices {
  /** The agents that a session can run as; empty if there is only the default one. */
  agents: AgentInfo[];
  /** "" is the default one. */
  agent: string;
  setAgent(name: string): void;
  /** The name of the model that answers first. */
  model: string;
  setModel(name: string): void;
  /** The modes that this browser may choose; empty if it may not choose. */
  modes: readonly Mode[];
  /** "" is the default. */
  mode: Mode | "";
  setMode(mode: Mode | ""): void;
  /** Whether the session works in its own git worktree. */
  worktree: boolean;
  setWorktree(worktree: boolean): void;
  /** The agents of other programs that are installed; empty if there are none. */
  backends: Backend[];
  /** "" is scorel's own agent. */
  backend: string;
  setBackend(name: string): void;
  /** All settings, in the form of the request. */
  start: NewSession;
}

/** The settings that a person chooses before a session begins. */
export function useChoices(host: Host, info: HostInfo | null, projectId: string, first: string): Choices {
  const [agent, setAgent] = useState(first);
  const [picked, setPicked] = useState("");
  const [mode, setMode] = useState<Mode | "">("");
  const [worktree, setWorktree] = useState(false);
  const [backend, setBackend] = useState("");
  const { data } = useHostQuery(host, "list_agents", { projectId });
  const programs = useHostQuery(host, "list_backends", {}); // older hosts refuse it
  const agents = (data?.agents ?? []).filter(({ enabled }) => enabled);
  const most = info ? highestMode(info) : null;
  const offered = modes.map((each) => each.mode).filter((each) => most !== null && rankOf(each) <= rankOf(most));
  const own = agents.find(({ name }) => name === agent)?.model;
  const { deviceId } = host;
  const [before] = useState(() => rememberedModel(deviceId));
  const offers = info === null || info.models.some(({ name }) => name === before);
  // An agent may name its own model. The session runs on that one, unless another is chosen here.
  const free = agent === "" || (data !== undefined && !own);
  const model = picked || (free && offers ? before : "");
  const setModel = (name: string) => {
    setPicked(name);
    rememberModel(deviceId, name);
  };
  return {
    ...{ agents, agent, setAgent, setModel, mode, setMode, worktree, setWorktree, backend, setBackend },
    backends: (programs.data?.backends ?? []).filter(({ path }) => path),
    model: model || own || (info?.defaultModel ?? ""),
    // Bypass is chosen in the session, after a warning.
    modes: offered.filter((each) => each !== "bypass"),
    start: {
      projectId,
      ...(agent ? { agent } : {}),
      ...(model ? { model } : {}),
      ...(backend ? { backend } : {}),
      ...(mode ? { mode } : {}),
      ...(worktree ? { worktree } : {}),
    },
  };
}
