import { late } from "../../shared/late";

/** The cards of approvals and questions, loaded after the first rows. */
export const lateCards = late(async () => (await import("./Cards")).Cards);
