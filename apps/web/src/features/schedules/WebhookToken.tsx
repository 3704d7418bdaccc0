import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { CopyButton } from "../../components/CopyButton";
import { t } from "../../i18n/schedules";

/** The address and the token of a webhook, which is shown once. */
export function WebhookToken({ id, token, onClose }: { id: string; token: string; onClose: () => void }) {
  const path = `/v1/triggers/${id}`;
  return (
    <Card tone="warn" data-testid="webhook-token" className="mt-3 p-3 text-sm">
      <p>{t("schedules.token.explained")}</p>
      {[path, token].map((text) => (
        <div key={text} className="mt-1 flex items-center gap-1">
          <code className="min-w-0 flex-1 break-all font-mono text-xs">{text}</code>
          <CopyButton text={text} label={text === path ? t("schedules.token.copyPath") : t("schedules.token.copy")} />
        </div>
      ))}
      <Button className="mt-2" onClick={onClose}>
        {t("schedules.token.done")}
      </Button>
    </Card>
  );
}
