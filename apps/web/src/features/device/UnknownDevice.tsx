import { Link } from "wouter";
import { MachineIcon } from "../../components/icons";
import { EmptyState } from "../../components/Notice";
import { t } from "../../i18n/device";
import { PageHeader } from "../shared/PageHeader";

/** Shown for an address with a device that this browser does not know. */
export function UnknownDevice() {
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader title={t("device.unknownDevice.unknownMachine")} back="/" />
      <main>
        <EmptyState
          icon={<MachineIcon />}
          title={t("device.unknownDevice.notPaired")}
          actions={
            <Link
              to="/pair"
              className="touchable inline-flex items-center font-medium text-accent underline underline-offset-2"
            >
              {t("device.unknownDevice.pairAMachine")}
            </Link>
          }
        >
          {t("device.unknownDevice.explanation")}
        </EmptyState>
      </main>
    </div>
  );
}
