/** Texts and commands of operations on many runs. */
import type { Operation, OperationInput } from "@weft/client"
import { shellWord } from "../design/shellCommand.ts"
import { formatCount, formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"

/** Returns the parts of a selection for people. */
export const filterParts = ({ filter, options }: Operation): ReadonlyArray<string> => {
  const { status, type, waiting, project, fn, event_id, since } = filter
  const parts: ReadonlyArray<string | undefined> = [
    status && t().status[status],
    type && (t().types[type] ?? type),
    waiting && t().operations.waitsFor(waiting === "any" ? t().runs.any : (t().waits[waiting] ?? waiting)),
    project,
    fn,
    event_id && t().operations.ofEvent(event_id),
    since && t().operations.since(formatInstant(since))
  ]
  const shown = parts.flatMap((part) => (part === undefined || part === "" ? [] : [part]))
  return [
    ...(shown.length === 0 ? [t().operations.allRuns] : shown),
    ...(options.build === undefined ? [] : [t().operations.builds[options.build] ?? options.build]),
    ...(options.rate === undefined ? [] : [t().operations.limitedTo(formatCount(options.rate))])
  ]
}

/** Number of runs that the operation has examined. */
export const examinedOf = ({ done, skipped, failed }: Operation): number => done + skipped + failed

/** Returns the command that creates the operation. `since` is the period as people write it, such as `1h`. */
export const operationCommand = ({ kind, filter = {}, options = {} }: OperationInput, since: string): string => {
  const { status, type, waiting, project, fn } = filter
  const flags: ReadonlyArray<readonly [name: string, value: string | number | undefined]> = [
    ["status", kind === "replay" ? status : undefined],
    ["type", type],
    ["since", since === "" ? undefined : since],
    ["waiting", kind === "cancel" ? waiting : undefined],
    ["project", project],
    ["function", fn],
    ["build", options.build],
    ["rate", options.rate]
  ]
  const given = flags.flatMap(([name, value]) =>
    value === undefined ? [] : [` --${name} ${shellWord(String(value))}`]
  )
  return `weft runs ${kind} --all-matching${given.join("")}`
}
