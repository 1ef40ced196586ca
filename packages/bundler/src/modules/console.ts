/** `node:console`: the global console, which writes to the run's log. */
import { refuse } from "./refuse.ts"

/** A log has no screen, profiles or marks. */
const ignore = (): void => undefined

export const { assert, count, countReset, debug, dir, error, group, groupCollapsed, groupEnd, info, log } =
  globalThis.console
export const [clear, profile, profileEnd, timeStamp] = [ignore, ignore, ignore, ignore]
export const dirxml = log
export const context = refuse("console.context")
export const createTask = refuse("console.createTask")
export const { table, time, timeEnd, timeLog, trace, warn } = globalThis.console
export const Console = refuse("console.Console", "use `svc.log`")
export default globalThis.console
