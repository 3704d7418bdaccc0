import { late } from "../../shared/late";

/** The cards that ask people: the first rows do without them. */
export const lateCards = late(async () => (await import("./Cards")).Cards);
