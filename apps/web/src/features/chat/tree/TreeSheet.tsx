import { useQuery } from "@tanstack/react-query";
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import type { Host } from "../../../api/contract";
import type { TreeNode } from "../../../api/types";
import { Badge } from "../../../components/Badge";
import { Button } from "../../../components/Button";
import { cx } from "../../../components/cx";
import { Sheet } from "../../../components/Sheet";
import { Skeleton } from "../../../components/Skeleton";
import { useToast } from "../../../components/Toast";
import { t } from "../../../i18n/chat";
import { withHelp } from "../../shared/with-help";
import type { Place } from "../context/history-context";
import { type TreeLine, treeLines } from "./tree-lines";

export interface TreeSheetProps {
  host: Host;
  sessionId: string;
  /** The last entry: when it changes, the tree is requested again. */
  leaf: string;
  onPlace: (place: Place, onPath: boolean) => void;
  onCompact: () => Promise<void>;
  onClose: () => void;
}

/** The branches of a session. */
export default function TreeSheet({ host, sessionId, leaf, onPlace, onCompact, onClose }: TreeSheetProps) {
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const tree = useQuery({
    queryKey: [host.deviceId, "get_tree", sessionId, leaf],
    queryFn: () => host.request("get_tree", { sessionId }),
    retry: false,
  });
  const compact = async () => {
    setBusy(true);
    try {
      await onCompact();
      onClose();
    } catch (cause) {
      toast(withHelp(cause));
      setBusy(false);
    }
  };
  const lines = tree.data ? treeLines(tree.data.nodes) : [];
  const leafLine = lines.findLast(({ node }) => node.active)?.node.id;
  const current = useRef<HTMLLIElement>(null);
  useOpenAt(current, leafLine !== undefined);
  return (
    <Sheet
      title={t("chat.tree.branches")}
      onClose={onClose}
      footer={
        <Button data-testid="compact" busy={busy} onClick={compact}>
          {t("chat.tree.summarizeOlderMessages")}
        </Button>
      }
    >
      {tree.isPending ? <Skeleton label={t("chat.tree.loadingTheBranches")} rows={5} /> : null}
      {tree.error ? <p role="alert">{withHelp(tree.error)}</p> : null}
      {tree.data?.truncated ? (
        <p className="caption mb-2 text-faint">{t("chat.tree.olderEntriesAreNotShown")}</p>
      ) : null}
      {tree.data && lines.length === 0 ? <p className="text-muted">{t("chat.tree.noMessagesYet")}</p> : null}
      <ul data-testid="tree" className="-mx-2">
        {lines.map((line) => (
          <Line
            key={line.node.id}
            line={line}
            current={line.node.id === leafLine ? current : undefined}
            onPlace={onPlace}
          />
        ))}
      </ul>
    </Sheet>
  );
}

/** Scrolls the session's current line into view and focuses it, once: a long tree begins far above it. */
function useOpenAt(line: RefObject<HTMLElement | null>, here: boolean): void {
  useLayoutEffect(() => {
    if (here) {
      line.current?.scrollIntoView({ block: "center" });
      line.current?.querySelector("button")?.focus({ preventScroll: true });
    }
  }, [line, here]);
}

interface LineProps {
  line: TreeLine;
  /** Set on the session's current line. */
  current: RefObject<HTMLLIElement | null> | undefined;
  onPlace: TreeSheetProps["onPlace"];
}

function Line({ line: { node, depth }, current, onPlace }: LineProps) {
  const before = node.role === "user";
  const text = node.text ?? "";
  return (
    <li
      ref={current}
      aria-current={current ? "location" : undefined}
      style={{ paddingLeft: `${Math.min(depth, 8) * 0.875}rem` }}
    >
      <button
        type="button"
        data-testid="tree-node"
        data-active={node.active ?? false}
        disabled={!node.target}
        onClick={() => onPlace({ entryId: node.id, before, text }, node.active ?? false)}
        className={cx(
          "touchable flex w-full items-center gap-2 rounded-sm border-l-2 px-2 py-1 text-left text-sm hover:bg-sunken disabled:hover:bg-transparent",
          node.active ? "border-accent text-ink" : "border-line text-muted",
        )}
      >
        <span className="caption w-14 shrink-0 text-faint">{who(node)}</span>
        <span className="min-w-0 flex-1 truncate">{text || t("chat.tree.noText")}</span>
        {node.label ? <Badge tone="accent">{node.label}</Badge> : null}
      </button>
    </li>
  );
}

function who({ type, role }: TreeNode): string {
  if (role === "user") {
    return t("chat.tree.you");
  }
  if (role === "assistant") {
    return t("chat.tree.agent");
  }
  return type === "compaction" || type === "branch_summary" ? t("chat.tree.summary") : t("chat.tree.entry");
}
