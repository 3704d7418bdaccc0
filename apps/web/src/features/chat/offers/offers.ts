import { useQuery } from "@tanstack/react-query";
import type { Host } from "../../../api/contract";
import type { MCPPrompt, MCPResource } from "../../../api/types";
import { isRefusal } from "../../shared/errors";
import { hostKey } from "../../shared/host-keys";
import { useReadable } from "../../shared/scorel-context";

/** How long a list counts, in milliseconds. Servers change what they offer without an event for clients. */
const FRESH = 10_000;

const none: { resources: MCPResource[]; prompts: MCPPrompt[] } = { resources: [], prompts: [] };

/**
 * Returns the resources and prompts of a project's MCP servers; none while they are not known. An error hides nothing
 * else: files, commands and skills are offered without them.
 */
export function useOffers(host: Host, projectId: string) {
  const online = useReadable(host.status) === "open";
  const { data } = useQuery({
    queryKey: hostKey(host.deviceId, "list_mcp_offers", { projectId }),
    queryFn: () => host.request("list_mcp_offers", { projectId }),
    enabled: online && projectId !== "",
    staleTime: FRESH,
    retry: (failures, error) => !isRefusal(error) && failures < 2,
  });
  return data ?? none;
}

/** Returns the arguments of a prompt for people; those that may be left out are in brackets. */
export function argumentsOf(prompt: MCPPrompt): string {
  return (prompt.arguments ?? []).map(({ name, required }) => (required ? name : `[${name}]`)).join(" ");
}

/** Returns the resources that the typed part of a name may mean, in their order. */
export function matchingResources(resources: readonly MCPResource[], query: string): MCPResource[] {
  const part = query.toLowerCase();
  return resources.filter(({ server, uri, name, title }) =>
    [`${server}:${uri}`, name, title ?? ""].some((text) => text.toLowerCase().includes(part)),
  );
}
