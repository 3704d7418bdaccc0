import { useEffect, useRef } from "react";
import type { Host } from "../../api/contract";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { t } from "../../i18n/extensions";
import { bringIntoSight } from "../shared/bring-into-sight";
import { useAct } from "../shared/use-act";
import type { Fetched } from "./AddExtension";
import { Contents } from "./Contents";

export interface ReviewExtensionProps {
  host: Host;
  /** The project in which it can be used alone; absent where there is none. */
  projectId?: string;
  fetched: Fetched;
  onDone: (what: string) => Promise<unknown>;
  onCancel: () => void;
}

/** Shows what was fetched, and uses exactly these files once a person agrees. */
export function ReviewExtension({ host, projectId, fetched, onDone, onCancel }: ReviewExtensionProps) {
  const { extension, replaces, changes } = fetched;
  const { name, version, description, hash } = extension;
  const { busy, error, act } = useAct();
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const scrolls = box.current?.closest<HTMLElement>("[data-scrolls]");
    if (scrolls && box.current) {
      bringIntoSight(scrolls, box.current, "top");
    }
  }, []);
  const use = (which: string, where: { projectId?: string }) =>
    act(which, async () => {
      await host.request("save_extension", { ...where, hash, ...(replaces ? { replaces } : {}) });
      await onDone(replaces ? t("extensions.list.updated", { name }) : t("extensions.list.added", { name }));
    });
  return (
    <section
      ref={box}
      aria-label={t("extensions.review.title", { name })}
      data-testid="extension-review"
      className="mt-2 rounded-md border border-warn-line p-3 text-sm"
    >
      <h4 className="break-words font-medium">
        {t("extensions.review.title", { name })} <span className="font-normal text-faint">{version}</span>
      </h4>
      {description ? <p className="mt-1 break-words text-muted">{description}</p> : null}
      <p className="mt-1 text-muted">{t("extensions.review.explained")}</p>
      <Contents extension={extension} changes={changes} />
      <ErrorText className="mt-2">{error}</ErrorText>
      <div className="mt-3 flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>{t("extensions.add.cancel")}</Button>
        {replaces ? (
          <Button
            tone="primary"
            data-testid="extension-use"
            busy={busy === "replace"}
            disabled={busy !== null}
            onClick={() => use("replace", {})}
          >
            {t("extensions.review.replace")}
          </Button>
        ) : (
          <>
            <Button
              tone={projectId ? "secondary" : "primary"}
              data-testid="extension-use-everywhere"
              busy={busy === "everywhere"}
              disabled={busy !== null}
              onClick={() => use("everywhere", {})}
            >
              {t("extensions.review.everywhere")}
            </Button>
            {projectId ? (
              <Button
                tone="primary"
                data-testid="extension-use"
                busy={busy === "here"}
                disabled={busy !== null}
                onClick={() => use("here", { projectId })}
              >
                {t("extensions.review.here")}
              </Button>
            ) : null}
          </>
        )}
      </div>
    </section>
  );
}
