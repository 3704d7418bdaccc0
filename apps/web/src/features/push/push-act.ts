/** Runs one action at a time, then loads the state again. `run` returns what a person has to know. */
export type PushAct = (name: string, run: () => Promise<string | null>) => Promise<void>;
