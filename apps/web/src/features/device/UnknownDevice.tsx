import { Link } from "@tanstack/react-router";
import { MachineIcon } from "../../components/icons";
import { EmptyState } from "../../components/Notice";
import { PageHeader } from "../shared/PageHeader";

/** For an address that names a device which this browser does not know. */
export function UnknownDevice() {
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader title="Unknown machine" back={{ to: "/" }} />
      <main>
        <EmptyState
          icon={<MachineIcon />}
          title="This browser is not paired with that machine"
          actions={
            <Link
              to="/pair"
              className="touchable inline-flex items-center font-medium text-accent underline underline-offset-2"
            >
              Pair a machine
            </Link>
          }
        >
          The address may come from another browser: each browser is paired by itself.
        </EmptyState>
      </main>
    </div>
  );
}
