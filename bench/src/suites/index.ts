/** The parts of a suite that is measured outside this workspace: its type, its driver and its command line. */
export { benchCommand } from "../Command.ts"
export type { Figures } from "../programs/Command.ts"
export { Driver } from "../programs/Driver.ts"
export { type JobProgram, makeJob } from "../programs/JobProgram.ts"
export type { Contender, OpenSuite, Suite } from "../Suite.ts"
